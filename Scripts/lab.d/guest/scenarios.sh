# For jobs in the lab's guest: plays scenarios on the real radio. Source it after bluetooth.sh.
#
#   play SCENARIO NAME DEVICE   with --backend bluez, against the device file; the run folder is /out/runs/NAME, the other
#                               end's log /out/other-end-NAME.log; a failure is told by failed
bench=$PWD/.build/debug/wakebench

keep() { # NAME
    mkdir -p /out/runs && cp -r "/tmp/runs/$1" "/out/runs/$1"
}

play() { # SCENARIO NAME DEVICE
    local end=belt
    echo "== $2 --backend bluez =="
    grep -q '^device: bluetooth-central' "$3" && end=central
    "start_$end" "$3" || { failed "$2: no other end"; return; }
    "$bench" run "$1" --backend bluez --apps .build/apps --out "/tmp/runs/$2" || failed "$2"
    keep "$2"
    cp "/out/$end.log" "/out/other-end-$2.log"
    "stop_$end"
}
