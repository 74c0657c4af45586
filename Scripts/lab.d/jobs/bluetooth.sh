# Proves the lab's Bluetooth: bluetoothd answers as Scripts/air.d/contract.yaml has it, which is held against Scripts/radio too; a belt
# from a device file notifies bleak, bluetoothd restarts, the adapter goes and returns. Then the peripheral role, over the same: a central
# finds the service, reads (a long value too), writes (prepared too), gets notifications and indications, and leaves; Scripts/air has
# that in the foreground and in the background. Last a healthy lamp is fuzzed, and one that dies, whose death must be named, over the
# kernel's Attribute Protocol sockets; Scripts/air has live checks, and a lamp that hangs. The records are in /out.
#   Scripts/lab run Scripts/lab.d/jobs/bluetooth.sh 900
# machine: air
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"

bleak() { # COUNT
    timeout 400 /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/peers/bleak_central.py" "HR Belt" 2a37 "$1" || failed "bleak"
}

heard() { # PATTERN...
    local pattern
    for pattern in "$@"; do
        grep -qE "^device: $pattern" /out/devices.log || failed "the central did not say '$pattern'"
    done
}

# The command's output is shown and kept in /out/NAME.
ends_with() { # STATUS NAME COMMAND...
    local wanted=$1 name=$2 found began=$EPOCHSECONDS
    shift 2
    echo "== $name =="
    "$@" >"/out/$name" 2>"/out/$name.errors"
    found=$?
    sed 's/^/    /' "/out/$name.errors" "/out/$name"
    [ "$found" = "$wanted" ] || failed "$name ended with $found, not $wanted"
    echo "($((EPOCHSECONDS - began)) s)"
}

says() { # NAME TEXT
    grep -qF -- "$2" "/out/$1" || failed "$1 does not say: $2"
}

ends_with 12 without-bluetooth "$bench" device check --live Lamp --within 5s

echo "== contract =="
start_bluetooth || exit 1
start_device Scripts/air.d/devices/contract.yaml || exit 1
/usr/bin/python3 -B Scripts/air.d/contract.py --bus system --of bluetoothd || failed "the contract"
stop_devices

echo "== bleak =="
start_device Devices/Bluetooth/heart-rate-belt.yaml || exit 1
bluetoothctl power on >/dev/null
bleak 2
devices_log '^device: disconnected' || failed "the belt heard of no end"
.build/debug/PeripheralEnd Scripts/lab.d/devices/reader.yaml >/out/peripheral.log 2>&1 &
peripheral_id=$!
wait_for 180 has '^advertising-started' /out/peripheral.log || failed "the peripheral does not advertise"
restart_bluetoothd || failed "bluetoothd did not start again"
remove_adapter || failed "the adapter did not go"
add_adapter || failed "the adapter did not come back"
cat /out/devices.log
stop_devices

echo "== peripheral =="
# It has to switch the adapter on.
start_device Scripts/lab.d/devices/reader.yaml && devices_log '^device: finished' || failed "the central did not finish"
cat /out/devices.log
heard 'connected' 'service 180D 2A37 2A38 2A39 2A3A 2A3B' 'read 2A38 01' 'wrote 2A39 01' \
    'read 2A3A 000102.*c5c6c7$' 'wrote 2A3A 0102030405060708090a0b0c0d0e0f' 'read 2A3A 0102030405060708090a0b0c0d0e0f$' \
    'subscribed 2A37' 'indicated 2A3B' 'unsubscribed 2A37' 'disconnected'
[ "$(grep -c '^device: notified 2A37' /out/devices.log)" -ge 3 ] || failed "fewer than 3 notifications"
stop_devices
cat /out/peripheral.log
end_process "$peripheral_id"

echo "== bleak, again =="
start_device Devices/Bluetooth/heart-rate-belt.yaml || exit 1
bluetoothctl power on >/dev/null
bleak 1
stop_devices

lamp=$WAKEBENCH_LAB_PARTS/devices/lamp.yaml
start_devices "$lamp=healthy" "$lamp=vanishing" --hci air:1 --hci air:2 --local-name vanishing=Vanishing \
    --address vanishing=F0:11:22:33:44:88 --bug vanishing=vanish:100 || exit 1
ends_with 0 healthy "$bench" device fuzz Lamp --for 8s --within 60s --seed 7 --writes all -o /out/fuzz-healthy
says healthy "it is there, and answers"
grep -qE 'took one|link lost|no answer|another value' /out/healthy && failed "something is found about a healthy lamp"
ends_with 7 vanishing "$bench" device fuzz Vanishing --for 30s --within 60s --seed 7 --writes all -o /out/fuzz-vanishing
says vanishing "it is gone from the air: lost with operation"
length=$(sed -n 's/.*"died_of":{[^}]*"length":\([0-9]*\).*/\1/p' /out/fuzz-vanishing/summary.json)
[ "${length:-0}" -ge 100 ] || failed "it died of ${length:-no} bytes, and is made to die of 100 or more"
exit $status
