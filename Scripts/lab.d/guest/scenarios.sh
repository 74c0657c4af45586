# For jobs in the lab's guest: plays scenarios on the real radio. Source it after bluetooth.sh.
#
#   play SCENARIO NAME DEVICE [OPTION...]   with --backend bluez, against the device file; the run folder is /out/runs/NAME, the
#                                           other end's log /out/other-end-NAME.log; a failure is told by failed

keep() { # NAME
    mkdir -p /out/runs && cp -r "/tmp/runs/$1" "/out/runs/$1"
}

play() { # SCENARIO NAME DEVICE [OPTION...]
    local scenario=$1 name=$2 device=$3
    shift 3
    echo "== $name --backend bluez${*:+ $*} =="
    start_device "$device" || { failed "$name: no other end"; return; }
    "$bench" run "$scenario" --backend bluez "${budget[@]}" --apps .build/apps --out "/tmp/runs/$name" "$@" || failed "$name"
    keep "$name"
    cp /out/devices.log "/out/other-end-$name.log"
    stop_devices
}
