# For jobs in the lab's guest: external accessories without hardware. Source it after bluetooth.sh.
#
#   start_usb                       udev, and a USB controller whose devices are gadgets of the same machine
#   start_gadget FILE               plays a file under Devices/Accessory as a USB device; its log is /out/accessory.log
#   start_classic                   D-Bus, two linked dual-mode controllers, bluetoothd on hci0
#   start_rfcomm FILE               plays a file under Devices/Accessory on hci1; its log is /out/accessory.log
#   stop_accessory                  the accessory is gone
#   accessory WORD...               drives it: begin, attach, detach, fault NAME
#   accessory_log PATTERN [SECONDS] waits until it said a line that matches

start_usb() {
    local module
    for module in dummy_hcd libcomposite usb_f_acm usb_f_hid cdc-acm usbhid hid-generic; do
        modprobe "$module" || return
    done
    /lib/systemd/systemd-udevd --daemon && udevadm trigger && udevadm settle --timeout=30
}

start_gadget() { # FILE
    mkfifo /run/accessory
    /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/gadget.py" "$1" --control /run/accessory >/out/accessory.log 2>&1 &
    accessory_id=$!
    accessory_log '^ready' 60
}

start_classic() {
    modprobe rfcomm && start_bus && start_radio 2 dual && start_bluetoothd
}

start_rfcomm() { # FILE
    mkfifo /run/accessory
    wait_for 30 radio_is_free 1 || return
    /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/rfcomm_accessory.py" "$1" hci-socket:1 --control /run/accessory \
        >/out/accessory.log 2>&1 &
    accessory_id=$!
    accessory_log '^ready' 60
}

stop_accessory() {
    kill "$accessory_id" 2>/dev/null
    wait "$accessory_id" 2>/dev/null || true
    rm -f /run/accessory
}

accessory() { # WORD...
    echo "$*" >/run/accessory
}

accessory_log() { # PATTERN [SECONDS]
    wait_for "${2:-180}" grep -qE "$1" /out/accessory.log || {
        tail -n 20 /out/accessory.log >&2
        return 1
    }
}
