# 200 notifications a second from a Bumble belt: the bench with an SDK app, journal on, beside bleak doing the same job, in
# turns. Fails when a value is lost, or when bench and app together cost more than a quarter of bleak's process.
#   Scripts/bench ble
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
bench=$1
apps=$2
scenarios=$WAKEBENCH_LAB_PARTS/scenarios

spent() { # PID
    awk -v hertz="$(getconf CLK_TCK)" '{sub(/.*\) /, ""); print ($12 + $13) / hertz}' "/proc/$1/stat"
}

daemons() {
    echo "$(spent "$(pgrep -o dbus-daemon)") $(spent "$bluetoothd_id")"
}

# The daemons' whole time of a part: connecting and discovering included.
measure() { # WHAT COMMAND...
    local what=$1 before after
    shift
    before=$(daemons)
    "$@" >"/out/$what.log" 2>&1 || { echo "FAILED: $what"; tail -n 5 "/out/$what.log"; return 1; }
    after=$(daemons)
    echo "$before $after" | awk -v what="$what" '{printf "%s: dbus-daemon %.2f s, bluetoothd %.2f s\n", what, $3 - $1, $4 - $2}'
}

play_bench() { # ROUND
    rm -rf /tmp/runs/fast-belt
    "$bench" run "$scenarios/fast-belt-scenario.yaml" --backend bluez --apps "$apps" --out /tmp/runs/fast-belt --quiet &&
        grep '^measured' /tmp/runs/fast-belt/apps/com.example.notificationbenchmark.log
}

play_bleak() {
    /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/peers/bleak_counter.py" Fast Belt
}

start_bluetooth || exit 1
for round in 1 2; do
    for what in bench bleak; do
        start_belt "$scenarios/fast-belt.yaml" || exit 1
        measure "$what-$round" "play_$what" || exit 1
        grep -h '^measured' "/out/$what-$round.log"
        stop_belt
    done
done
cat /out/bench-?.log /out/bleak-?.log | awk '
    /^measured/ {
        for (i = 2; i <= NF; i++) { split($i, pair, "="); value[pair[1]] += pair[2] }
        if (/bench=/) benched += 1; else bleaked += 1
    }
    END {
        values = value["values"]
        printf "%d values, %d lost, %.1f a second\n", values, value["lost"], values / value["seconds"]
        ours = value["bench"] + value["app"]
        printf "bench %.2f s, app %.2f s, together %.2f s; bleak %.2f s; ratio %.3f, limit 0.25\n",
            value["bench"], value["app"], ours, value["bleak"], ours / value["bleak"]
        exit !(benched == 2 && bleaked == 2 && value["lost"] == 0 && ours <= value["bleak"] / 4)
    }'
