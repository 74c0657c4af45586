# For jobs in the lab's guest: Bluetooth without hardware. Source it; job.sh comes with it.
#
#   start_bluetooth [COUNT]         D-Bus, one or two LE controllers that are linked with those of devices, bluetoothd on hci0
#   start_device FILE [OPTION...]   plays a file of Devices/Bluetooth by Scripts/radio, beside the guest, as "device"
#   start_devices ARG...            plays several: FILE=NAME... --hci air:NUMBER..., and what else Scripts/radio/air takes; three controllers
#                                   on the air; files are those outside the guest, but for /out
#   devices_log PATTERN [SECONDS]   waits until a line of /out/devices.log matches, at most until they have ended
#   devices WORD...                 gives an order, such as disconnect, silence, advertise, arm FAULT
#   stop_devices                    they are gone
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

load_modules() {
    local module
    # Beforehand, for the kernel waits 2 s for a new controller's first answer, and nothing is answered while the modules that are
    # needed are being loaded and their ciphers tried.
    for module in bluetooth hci_vhci virtio_console af_alg algif_hash algif_skcipher cmac ecb aes_generic; do
        modprobe "$module" || [ "$module" = aes_generic ] || return
    done
}

port() { # NAME
    local each
    for each in /sys/class/virtio-ports/*; do
        [ "$(<"$each/name")" = "$1" ] && echo "/dev/${each##*/}" && return
    done
    echo "lab: no port $1 leads to the air" >&2
    return 1
}

start_radio() { # COUNT
    local index
    load_modules || return
    for ((index = 0; index < $1; index++)); do
        # Ports come a while after their module.
        wait_for 60 port "hci$index" || return
        /usr/bin/python3 -ISB "$WAKEBENCH_LAB_PARTS/guest/hci.py" "$(port "hci$index")" >"/out/hci$index.log" 2>&1 &
    done
    wait_for 60 radios_are_set_up "$1"
}

# LE and BR/EDR: Scripts/radio's controllers have none of the latter. The devices are in the guest, then.
start_dual_radio() { # COUNT
    local attempt
    load_modules || return
    /usr/bin/python3 -c 'import socket
for cipher in ("skcipher", "ecb(aes)"), ("hash", "cmac(aes)"):
    socket.socket(socket.AF_ALG, socket.SOCK_SEQPACKET).bind(cipher)' || return
    for attempt in 1 2 3; do
        # The controllers of one process hear each other. For the library, see its source.
        LD_PRELOAD=$WAKEBENCH_LAB/keep_memory.so btvirt "-l$1" >/out/btvirt.log 2>&1 &
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
    start_bus && start_radio "${1:-1}" && start_bluetoothd
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

# To what plays the devices, beside the guest.
ask_air() { # WORD...
    local answer
    [ -n "${air:-}" ] || { wait_for 60 port devices && exec {air}<>"$(port devices)"; } || return
    printf '%q ' "$@" >&"$air"
    echo >&"$air"
    read -r -u "$air" answer
    [ "$answer" = ok ] || {
        echo "lab: $1: $answer" >&2
        return 1
    }
}

start_devices() { # ARG...
    ask_air start "$@" && devices_log '^air: ready'
}

start_device() { # FILE [OPTION...]
    local file=$1
    shift
    start_devices "$file=device" --hci air:1 "$@"
}

# Their words come no more once they have ended.
devices_say_or_end() { # PATTERN
    has "$1" /out/devices.log || [ -s /out/devices.ended ]
}

devices_log() { # PATTERN [SECONDS]
    wait_for "${2:-180}" devices_say_or_end "$1" && has "$1" /out/devices.log && return
    echo "lab: no device said '$1'; their last lines:" >&2
    tail -n 20 /out/devices.log >&2
    [ ! -s /out/devices.ended ] || echo "lab: their program ended with $(</out/devices.ended)" >&2
    return 1
}

devices() { # WORD...
    ask_air say "$@"
}

stop_devices() {
    ask_air end
}

kill_devices() {
    ask_air kill
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
    # On the air a device would notice by itself, after the supervision timeout; these controllers have none.
    if [ -e /out/devices.log ] && [ ! -s /out/devices.ended ]; then devices disconnect; fi
}

add_adapter() {
    give_adapter 0
}
