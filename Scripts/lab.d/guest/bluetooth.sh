# For jobs in the lab's guest: Bluetooth without hardware. Source it; job.sh comes with it.
#
#   start_bluetooth [COUNT]         D-Bus, two or more linked LE controllers, bluetoothd on hci0
#   start_device FILE [OPTION...]   plays a file of Devices/Bluetooth by Scripts/radio, as "device" on hci1
#   start_devices ARG...            plays several: FILE=NAME... --hci hci-socket:INDEX..., and what else Scripts/radio/air takes
#   devices_log PATTERN [SECONDS]   waits until a line of /out/devices.log matches, at most until they have ended
#   devices WORD...                 gives an order, such as disconnect, silence, advertise, arm FAULT
#   stop_devices                    they are gone, and their controllers free for others
#   kill_devices                    the same without a word to the other end of a link, as when a battery runs out
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

# An answer that takes too long is none.
bluez_lacks() { # OBJECT
    local said
    said=$(bluez_has "$1" 2>&1) && return 1
    [[ $said != *"timed out"* ]]
}

start_bus() {
    dbus-daemon --system --fork --nopidfile && wait_for 120 busctl --system --timeout=5 status org.freedesktop.DBus
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
    # LE only: the devices have no use for the rest.
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
        wait_for 60 radios_are_set_up "$1" && return
        end_process "$radio_id"
        wait_for 60 test ! -e /sys/class/bluetooth/hci0 || return
    done
    echo "lab: btvirt's controllers were not set up in $attempt attempts" >&2
    return 1
}

start_bluetoothd() {
    # A table kept from an earlier device would hide a change of the device file, and an adapter that is switched on by
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
    # A guest that shares its processors takes long to start a Python.
    wait_for 120 has '^away|Error' "/run/away$1" && has '^away' "/run/away$1" && return
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

start_devices() { # ARG...
    local index
    for index in $(printf '%s\n' "$@" | sed -n 's/^hci-socket://p'); do wait_for 180 radio_is_free "$index" || return; done
    mkfifo /run/devices
    # Open for both directions, so that it does not end when an order was written.
    PYTHONPATH=$PYTHONPATH:$PWD/Scripts/radio /usr/bin/python3 -B -m wakebench_radio.air "$@" --again 1 >/out/devices.log 2>&1 \
        <>/run/devices &
    devices_id=$!
    # Bumble makes its classes of HCI when it is imported, compiled or not, which takes a slow guest a minute.
    devices_log '^air: ready' 300
}

start_device() { # FILE [OPTION...]
    local file=$1
    shift
    start_devices "$file=device" --hci hci-socket:1 "$@"
}

# Their words come no more once they have ended.
devices_say_or_end() { # PATTERN
    has "$1" /out/devices.log || is_gone "$devices_id"
}

devices_log() { # PATTERN [SECONDS]
    wait_for "${2:-180}" devices_say_or_end "$1" && has "$1" /out/devices.log && return
    echo "lab: no device said '$1'; their last lines:" >&2
    tail -n 20 /out/devices.log >&2
    if is_gone "$devices_id" 2>/dev/null; then
        local ended=0
        wait "$devices_id" || ended=$?
        echo "lab: their program ended with $ended" >&2
    fi
    return 1
}

devices() { # WORD...
    # One that has ended would leave the opening waiting for a reader.
    echo "$*" 1<>/run/devices
}

stop_devices() {
    end_process "$devices_id"
    rm -f /run/devices
}

kill_devices() {
    kill -KILL "$devices_id" 2>/dev/null
    wait "$devices_id" 2>/dev/null || true
    rm -f /run/devices
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
    # On the air a device would notice by itself, after the supervision timeout; btvirt has none.
    if [ -p /run/devices ]; then devices disconnect; fi
}

add_adapter() {
    give_adapter 0
}
