# Records the belt's scenario with a run and a belt that write down what they hear and say: the run its own adapter's traffic,
# hci.btsnoop and hci.pcapng in /out/runs/heart-rate-belt, and the belt that of its controller, /out/belt.btsnoop; so that devices made of
# them can be compared with the belt. Then the belt is recorded, /out/recorded-belt.yaml, while what others do is overheard without
# a device being named, /out/overheard.yaml. It says three values in 44 s, as in its scenario.
#   Scripts/lab run Scripts/lab.d/jobs/record.sh 900
# machine: air
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"

# The command's output is shown and kept in /out/NAME.
ends_with() { # STATUS NAME COMMAND...
    local wanted=$1 name=$2 found
    shift 2
    echo "== $name =="
    "$@" >"/out/$name" 2>"/out/$name.errors"
    found=$?
    sed 's/^/    /' "/out/$name.errors" "/out/$name"
    [ "$found" = "$wanted" ] || failed "$name ended with $found, not $wanted"
}

without_right() { # COMMAND...
    setpriv --bounding-set -net_raw,-net_admin "$@"
}

start_bluetooth 2 || exit 1
scenario=Devices/Scenarios/heart-rate-belt.yaml
ends_with 12 run-without-right without_right "$bench" run $scenario --backend bluez --apps .build/apps --out /tmp/refused --capture btsnoop
[ ! -e /tmp/refused ] || failed "a run without the right to listen"
ends_with 12 without-right without_right "$bench" record ble "HR Belt" -o /tmp/refused.yaml
[ ! -e /tmp/refused.btsnoop ] || failed "a recording without the right to listen"
ends_with 2 without-adapter "$bench" record ble -o /tmp/unnamed.yaml --for 1s

echo "== capture =="
start_device Devices/Bluetooth/heart-rate-belt.yaml --capture device=/out/belt.btsnoop || exit 1
"$bench" run $scenario --backend bluez "${budget[@]}" --apps .build/apps --out /tmp/runs/heart-rate-belt --capture btsnoop,pcapng ||
    failed heart-rate-belt
keep heart-rate-belt
stop_devices
[ -s /out/belt.btsnoop ] || failed "no capture"

start_device Devices/Bluetooth/heart-rate-belt.yaml || exit 1
# Two controllers are there; on this one the other recording connects.
adapter=$(hciconfig hci0 | sed -n 's/.*BD Address: \([0-9A-F:]*\).*/\1/p')
"$bench" record ble -o /out/overheard.yaml --adapter "$adapter" >/out/overheard 2>/out/overheard.errors &
listener=$!
wait_for 120 test -s /out/overheard.btsnoop || failed "no capture while it is recorded"
ends_with 0 recorded "$bench" record ble "HR Belt" -o /out/recorded-belt.yaml --capture btsnoop,pcapng --for 46s --json
kill -INT $listener
wait $listener || failed "hearing what others do ended with $?"
sed 's/^/    /' /out/overheard.errors /out/overheard
exit $status
