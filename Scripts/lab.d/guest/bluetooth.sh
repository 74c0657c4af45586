# For jobs in the lab's guest: Bluetooth without hardware. Source it; job.sh comes with it.
#
#   start_bluetooth [COUNT]         D-Bus, two or more linked LE controllers, bluetoothd on hci0
#   start_belt FILE                 plays a file under Devices/Bluetooth on hci1; its log is /out/belt.log
#   stop_belt                       the belt is gone, and hci1 free for another
#   kill_belt                       the same without a word to the other end of its link, as when a battery runs out
#   belt_log PATTERN [SECONDS]      waits until the belt said a line that matches
#   belt WORD...                    drives the belt: fault NAME, disconnect, silence, advertise
#   start_device FILE               plays a file by Scripts/radio on hci1; its log is /out/device.log
#   stop_device                     the device is gone, and hci1 free for another
#   device_log PATTERN [SECONDS]    waits until the device said a line that matches, at most until it has ended
#   start_central FILE [ARG...]     plays a file of a central under Devices/Bluetooth on hci1; its log is /out/central.log
#   stop_central                    the central is gone, and hci1 free for another
#   central_log PATTERN [SECONDS]   waits until the central said a line that matches
#   restart_bluetoothd              kills bluetoothd without notice and starts it again
#   stop_bluetoothd                 kills it, and leaves it so
#   remove_adapter, add_adapter     hci0 goes and comes back, as a dongle does
#   hold_adapter INDEX              keeps a controller out of bluetoothd's sight
#   give_adapter INDEX              bluetoothd sees it from now on

source "$WAKEBENCH_LAB_PARTS/guest/job.sh"

export PYTHONPATH=$WAKEBENCH_LAB/py

bluez_has() { # OBJECT
    busctl --system --timeout=5 get-property org.bluez "$1" org.bluez.Adapter1 Address
}

bluez_lacks() { # OBJECT
    ! bluez_has "$1"
}

start_bus() {
    dbus-daemon --system --fork --nopidfile && wait_for 20 busctl --system --timeout=5 status org.freedesktop.DBus
}

radio_is_set_up() { # INDEX
    hciconfig "hci$1" | grep -q 'BD Address: 00:AA'
}

radios_are_set_up() { # COUNT
    local index
    for ((index = 0; index < $1; index++)); do radio_is_set_up "$index" || return; done
}

start_radio() { # COUNT [dual]
    local attempt module kind=-L
    # LE only: the belt has no use for the rest.
    [ "${2:-}" = dual ] && kind=
    # Beforehand, for the kernel waits 2 s for a new controller's first answer, and btvirt answers nothing while the modules
    # it needs itself are being loaded and their ciphers tried.
    for module in bluetooth hci_vhci af_alg algif_hash algif_skcipher cmac ecb aes_generic; do
        modprobe "$module" || [ "$module" = aes_generic ] || return
    done
    /usr/bin/python3 -c 'import socket
for cipher in ("skcipher", "ecb(aes)"), ("hash", "cmac(aes)"):
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).bind(cipher)' || return
    for attempt in 1 2 3; do
        # The controllers of one process hear each other. For the library, see its source.
        LD_PRELOAD=$WAKEBENCH_LAB/keep_memory.so btvirt $kind "-l$1" >/out/btvirt.log 2>&1 &
        radio_id=$!
        wait_for 20 radios_are_set_up "$1" && return
        end_process "$radio_id"
        wait_for 10 test ! -e /sys/class/bluetooth/hci0 || return
    done
    echo "lab: btvirt's controllers were not set up in $attempt attempts" >&2
    return 1
}

start_bluetoothd() {
    # A table kept from an earlier belt would hide a change of the device file, and an adapter that is switched on by
    # itself would hide an adapter that nobody switched on.
    printf '[GATT]\nCache = no\n[Policy]\nAutoEnable = false\n' >/run/bluetooth.conf
    /usr/libexec/bluetooth/bluetoothd -n -E -f /run/bluetooth.conf >>/out/bluetoothd.log 2>&1 &
    bluetoothd_id=$!
    wait_for 120 bluez_has /org/bluez/hci0
}

start_bluetooth() { # [COUNT]
    start_bus && start_radio "${1:-2}" && start_bluetoothd
}

stop_bluetoothd() {
    kill -KILL "$bluetoothd_id"
    wait "$bluetoothd_id" 2>/dev/null || true
}

restart_bluetoothd() {
    stop_bluetoothd
    start_bluetoothd
}

declare -A holders

# Whoever holds the user channel of a controller has it alone; bluetoothd sees it removed. The kernel's own set-up and
# bluetoothd may be busy with it.
take_radio() { # INDEX
    rm -f "/run/away$1"
    /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/guest/away.py" "$1" >"/run/away$1" 2>&1 &
    holders[$1]=$!
    # A guest that shares its processors with builds takes seconds to start a Python.
    wait_for 20 grep -qE '^away|Error' "/run/away$1" && grep -q '^away' "/run/away$1" && return
    drop_radio "$1"
    return 1
}

drop_radio() { # INDEX
    end_process "${holders[$1]}"
}

# The user channel is there only when the controller is down.
radio_is_free() { # INDEX
    hciconfig "hci$1" down && hciconfig "hci$1" | grep -q DOWN && take_radio "$1" && drop_radio "$1"
}

start_belt() { # FILE
    mkfifo /run/belt
    wait_for 30 radio_is_free 1 || return
    /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/peers/belt.py" "$1" hci-socket:1 --control /run/belt >/out/belt.log 2>&1 &
    belt_id=$!
    belt_log '^advertising' 60
}

stop_belt() {
    end_process "$belt_id"
    rm -f /run/belt
}

kill_belt() {
    kill -KILL "$belt_id" 2>/dev/null
    wait "$belt_id" 2>/dev/null || true
    rm -f /run/belt
}

belt_log() { # PATTERN [SECONDS]
    wait_for "${2:-180}" grep -qE "$1" /out/belt.log || {
        tail -n 20 /out/belt.log >&2
        return 1
    }
}

belt() { # WORD...
    echo "$*" >/run/belt
}

start_device() { # FILE
    wait_for 180 radio_is_free 1 || return
    PYTHONPATH=$PYTHONPATH:$PWD/Scripts/radio /usr/bin/python3 -B -m wakebench_radio.air "$1" --hci hci-socket:1 --again 1 \
        >/out/device.log 2>&1 &
    device_id=$!
    # Bumble makes its classes of HCI when it is imported, compiled or not, which takes a slow guest a minute.
    device_log '^air: ready' 300
}

# Its words come no more once it has ended.
device_says_or_ends() { # PATTERN
    grep -qE "$1" /out/device.log || is_gone "$device_id"
}

device_log() { # PATTERN [SECONDS]
    wait_for "${2:-180}" device_says_or_ends "$1" && grep -qE "$1" /out/device.log && return
    echo "lab: the device did not say '$1'; its last lines:" >&2
    tail -n 20 /out/device.log >&2
    return 1
}

stop_device() {
    end_process "$device_id"
}

start_central() { # FILE [ARG...]
    local file=$1
    shift
    wait_for 180 radio_is_free 1 || return
    /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/peers/central.py" "$file" hci-socket:1 "$@" >/out/central.log 2>&1 &
    central_id=$!
}

stop_central() {
    end_process "$central_id"
}

central_log() { # PATTERN [SECONDS]
    wait_for "${2:-180}" grep -qE "$1" /out/central.log || {
        tail -n 20 /out/central.log >&2
        return 1
    }
}

hold_adapter() { # INDEX
    wait_for 120 take_radio "$1" && wait_for 120 bluez_lacks "/org/bluez/hci$1"
}

give_adapter() { # INDEX
    drop_radio "$1"
    wait_for 120 bluez_has "/org/bluez/hci$1"
}

remove_adapter() {
    hold_adapter 0 || return
    # On the air the belt would notice by itself, after the supervision timeout; btvirt has none.
    if [ -p /run/belt ]; then belt disconnect; fi
}

add_adapter() {
    give_adapter 0
}
