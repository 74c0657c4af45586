# Proves the bench on a real bluetoothd where things come and go: a beacon, bluetoothd that is restarted, and the adapter in
# mid-stream. The run folders are in /out/runs, for comparison with simulated runs.
#   Scripts/lab run Scripts/lab.d/jobs/restarts.sh 900
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"

# The beacon's timetable begins once the app has it watched, however long the start of both takes.
play_beacon() { # NAME DEVICE
    local id
    echo "== $1 --backend bluez =="
    "$bench" run "Devices/Scenarios/$1.yaml" --backend bluez --apps .build/apps --out "/tmp/runs/$1" &
    id=$!
    wait_for 180 grep -q 'didStartMonitoring desk' "/tmp/runs/$1/apps/com.example.fences.log" &&
        start_beacon "$2" || failed "no beacon for $1"
    wait "$id" || failed "$1"
    keep "$1"
    stop_beacon
}

values() { # NAME
    grep -c didUpdateValue "/tmp/runs/$1/apps/com.example.heartrate.log"
}

more_values() { # NAME THAN
    [ "$(values "$1")" -gt "$2" ]
}

service_again() { # WHAT
    local before
    before=$(values radio-restarts)
    if wait_for 120 more_values radio-restarts "$((before + 1))"; then
        echo "service again after: $1 (values before $before, now $(values radio-restarts))"
    else
        failed "no service after: $1"
    fi
}

start_bluetooth || exit 1
play_beacon desk-beacon Devices/Bluetooth/desk-beacon.yaml
"$bench" why com.example.fences --run /tmp/runs/desk-beacon || failed "why com.example.fences"

echo "== radio-restarts =="
start_belt Devices/Bluetooth/steady-belt.yaml || exit 1
"$bench" run Scripts/lab.d/scenarios/radio-restarts.yaml --backend bluez --apps .build/apps --out /tmp/runs/radio-restarts &
bench_id=$!
wait_for 120 more_values radio-restarts 1 || failed "no service before the restarts"
restart_bluetoothd || failed "bluetoothd did not start again"
service_again "bluetoothd restarted"
remove_adapter || failed "the adapter did not go"
add_adapter || failed "the adapter did not come back"
service_again "the adapter went and came back"
wait "$bench_id" || failed "radio-restarts"
keep radio-restarts
exit $status
