# Records the belt: /out/recorded-belt.yaml and its captures, for comparison with a run beside the belt. The belt says three values in
# 44 s, as in its scenario. Then what others do is heard without a device being named.
#   Scripts/lab run Scripts/lab.d/jobs/record.sh 300
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"

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

start_bluetooth && start_device Devices/Bluetooth/heart-rate-belt.yaml || exit 1
ends_with 12 without-right setpriv --bounding-set -net_raw,-net_admin "$bench" record ble "HR Belt" -o /tmp/refused.yaml
[ ! -e /tmp/refused.btsnoop ] || failed "a recording without the right to listen"
ends_with 2 without-name "$bench" record ble -o /tmp/unnamed.yaml --for 1s
# Two controllers are there; this one is bluetoothd's, on which the other recording connects.
adapter=$(hciconfig hci0 | sed -n 's/.*BD Address: \([0-9A-F:]*\).*/\1/p')
"$bench" record ble -o /out/overheard.yaml --adapter "$adapter" >/out/overheard 2>/out/overheard.errors &
listener=$!
wait_for 120 test -s /out/overheard.btsnoop || failed "no capture while it is recorded"
ends_with 0 recorded "$bench" record ble "HR Belt" -o /out/recorded-belt.yaml --capture btsnoop,pcapng --for 46s --json
kill -INT $listener
wait $listener || failed "hearing what others do ended with $?"
sed 's/^/    /' /out/overheard.errors /out/overheard
exit $status
