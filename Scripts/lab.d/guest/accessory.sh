# For jobs in the lab's guest: external accessories without hardware. Source it after bluetooth.sh.
#
#   start_usb                       udev, and two USB controllers whose devices are gadgets of the same machine
#   start_gadget FILE               plays a file under Devices/Accessory as a USB device
#   start_classic                   D-Bus, two linked dual-mode controllers, bluetoothd on hci0
#   start_rfcomm FILE               plays a file under Devices/Accessory on hci1
#   stop_accessory                  the accessory is gone
#   accessory WORD...               drives it: begin, attach, detach, fault NAME
#   accessory_log PATTERN [SECONDS] waits until it said a line that matches
#
# Its log is /out/$at.log. Several are there at once when each has its own `at`; it is `accessory` when nobody says.
#
# For jobs that play scenarios, and source scenarios.sh, too; a failure is told by failed:
#
#   play_gadget NAME     Devices/Scenarios/NAME.yaml with accessory=udev, beside a gadget of Devices/Accessory/NAME.yaml; the
#                        run folder is /out/runs/NAME
#   play_rfcomm NAME     the same with accessory=rfcomm, beside a Bumble accessory
at=accessory

start_usb() {
    local module
    modprobe dummy_hcd num=2 || return
    for module in libcomposite usb_f_acm usb_f_hid cdc-acm usbhid hid-generic; do
        modprobe "$module" || return
    done
    /lib/systemd/systemd-udevd --daemon && udevadm trigger && udevadm settle --timeout=120
}

start_gadget() { # FILE
    mkfifo "/run/$at"
    /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/peers/gadget.py" "$1" --control "/run/$at" >"/out/$at.log" 2>&1 &
    accessory_id=$!
    accessory_log '^ready' 300
}

start_classic() {
    modprobe rfcomm && start_bus && start_dual_radio 2 && start_bluetoothd
}

start_rfcomm() { # FILE
    mkfifo "/run/$at"
    wait_for 180 radio_is_free 1 || return
    /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/peers/rfcomm_accessory.py" "$1" hci-socket:1 --control "/run/$at" >"/out/$at.log" 2>&1 &
    accessory_id=$!
    accessory_log '^ready' 300
}

stop_accessory() {
    end_process "$accessory_id"
    rm -f "/run/$at"
}

accessory() { # WORD...
    echo "$*" >"/run/$at"
}

accessory_log() { # PATTERN [SECONDS]
    wait_for "${2:-180}" has "$1" "/out/$at.log" || {
        tail -n 20 "/out/$at.log" >&2
        return 1
    }
}

play_gadget() { # NAME
    local at=$1
    start_gadget "Devices/Accessory/$1.yaml" || { failed "$1: no accessory"; return; }
    play_beside "$1" udev Devices
}

play_rfcomm() { # NAME
    local at=$1 address devices=/tmp/devices
    start_classic && start_rfcomm "Devices/Accessory/$1.yaml" || { failed "$1: no accessory"; return; }
    # The lab's controllers have addresses of their own.
    address=$(sed -n 's/^ready //p' "/out/$at.log")
    cp -r Devices $devices
    sed -i "s/address: \"[^\"]*\"/address: \"$address\"/" "$devices/Accessory/$1.yaml"
    play_beside "$1" rfcomm $devices
}

# The accessory's presence begins once the app was active, or is in the background already, however long its start takes.
play_beside() { # NAME BACKEND DEVICES
    local id
    echo "== $1 --backend accessory=$2 =="
    "$bench" run "$3/Scenarios/$1.yaml" --backend "accessory=$2" "${budget[@]}" --apps .build/apps --out "/tmp/runs/$1" \
        >"/out/bench-$1.log" 2>&1 &
    id=$!
    wait_for 300 eval "grep -qsE 'didBecomeActive|didEnterBackground' /tmp/runs/$1/apps/*.log" && accessory begin || failed "$1: the app did not come up"
    wait $id || failed "$1"
    sed "s/^/$1: /" "/out/bench-$1.log"
    keep "$1"
    stop_accessory
}
