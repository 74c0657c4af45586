# Proves the bench on a real bluetoothd where things come and go: bluetoothd that is restarted, and the adapter in mid-stream. The
# run's folder is in /out/runs.
#   Scripts/lab run Scripts/lab.d/jobs/restarts.sh 900
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"

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
start_device Devices/Bluetooth/steady-belt.yaml || exit 1
"$bench" run Scripts/lab.d/scenarios/radio-restarts.yaml --backend bluez "${budget[@]}" --apps .build/apps \
    --out /tmp/runs/radio-restarts &
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
