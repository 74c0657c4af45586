# Proves that service comes back on a real bluetoothd after what radios do to those who rely on them: bluetoothd restarted and the
# adapter gone and back in mid-stream, another adapter in its place, the peripheral gone without a word in mid-write. The run folders
# are in /out/runs.
#   Scripts/lab run Scripts/lab.d/jobs/faults.sh 900
# machine: air
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"

begin() { # NAME ARG...
    local name=$1
    shift
    echo "== $name =="
    "$bench" run "Scripts/lab.d/scenarios/$name.yaml" --backend bluez "${budget[@]}" --out "/tmp/runs/$name" "$@" &
    bench_id=$!
}

end() { # NAME
    wait "$bench_id" || failed "$1"
    mkdir -p /out/runs && cp -r "/tmp/runs/$1" "/out/runs/$1"
    cp /out/devices.log "/out/devices-$1.log"
    stop_devices
}

count() { # LOG PATTERN
    grep -c "$2" "$1"
}

more() { # LOG PATTERN THAN
    [ "$(count "$1" "$2")" -gt "$3" ]
}

service_again() { # WHAT LOG PATTERN
    local before
    before=$(count "$2" "$3")
    if wait_for 120 more "$2" "$3" "$((before + 2))"; then
        echo "service again after: $1 (before $before, now $(count "$2" "$3"))"
    else
        failed "no service after: $1"
    fi
}

start_bluetooth 2 || exit 1
# The second controller is kept out of bluetoothd's sight until it replaces the first.
hold_adapter 1 || exit 1
start_device Devices/Bluetooth/steady-belt.yaml || exit 1
log=/tmp/runs/radio-restarts/apps/com.example.heartrate.log
begin radio-restarts --apps .build/apps
wait_for 120 more $log didUpdateValue 1 || failed "no service before the restarts"
restart_bluetoothd || failed "bluetoothd did not start again"
service_again "bluetoothd restarted" $log didUpdateValue
remove_adapter || failed "the adapter did not go"
add_adapter || failed "the adapter did not come back"
service_again "the adapter went and came back" $log didUpdateValue
end radio-restarts

start_device Devices/Bluetooth/steady-belt.yaml || exit 1
log=/tmp/runs/other-number/apps/com.example.heartrate.log
begin other-number --apps .build/apps
wait_for 120 more $log didUpdateValue 1 || failed "no service of hci0"
remove_adapter || failed "hci0 did not go"
give_adapter 1 || failed "hci1 did not come"
service_again "hci1 in hci0's place" $log didUpdateValue
end other-number

mkdir -p /tmp/apps && cp -r "$WAKEBENCH_LAB_PARTS/bundles/Writer" /tmp/apps/Writer.app
sed -i "s|PROGRAM|$PWD/.build/debug/BluetoothApp|" /tmp/apps/Writer.app/writer
start_device Scripts/lab.d/devices/writable.yaml || exit 1
log=/tmp/runs/mid-write/apps/com.example.writer.log
begin mid-write --apps /tmp/apps
wait_for 120 more $log 'didWriteValue none' 3 || failed "no write was answered"
kill_devices
wait_for 120 grep -q didDisconnect $log || failed "the app did not hear that the device vanished"
grep -E 'didWriteValue CB|didDisconnect' $log
start_device Scripts/lab.d/devices/writable.yaml || failed "the device did not come back"
service_again "the device vanished in mid-write" $log 'didWriteValue none'
end mid-write
exit $status
