# Proves the peripheral role on a real bluetoothd that was restarted, and whose adapter had gone: a Bumble central finds the service,
# reads (a long value too), writes (prepared too), gets notifications and indications, and leaves. Scripts/air has the same in the
# foreground and in the background.
#   Scripts/lab run Scripts/lab.d/jobs/peripheral.sh 600 [CENTRAL.yaml]
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
device=${1:-Scripts/lab.d/devices/reader.yaml}

offer() {
    .build/debug/PeripheralEnd "$device" >/out/peripheral.log 2>&1 &
    wait_for 180 has '^advertising-started' /out/peripheral.log || {
        cat /out/peripheral.log
        return 1
    }
}

heard() { # PATTERN...
    local pattern
    for pattern in "$@"; do
        grep -qE "^device: $pattern" /out/devices.log || failed "the central did not say '$pattern'"
    done
}

use() { # WHAT
    echo "== $1 =="
    start_device "$device" && devices_log '^device: finished' || failed "the central did not finish"
    cat /out/devices.log
    heard 'connected' 'service 180D 2A37 2A38 2A39 2A3A 2A3B' 'read 2A38 01' 'wrote 2A39 01' \
        'read 2A3A 000102.*c5c6c7$' 'wrote 2A3A 0102030405060708090a0b0c0d0e0f' 'read 2A3A 0102030405060708090a0b0c0d0e0f$' \
        'subscribed 2A37' 'indicated 2A3B' 'unsubscribed 2A37' 'disconnected'
    [ "$(grep -c '^device: notified 2A37' /out/devices.log)" -ge 3 ] || failed "fewer than 3 notifications"
    stop_devices
}

start_bluetooth || exit 1
offer || exit 1
echo "== restart of bluetoothd, and the adapter gone and back =="
restart_bluetoothd || failed "bluetoothd did not start again"
remove_adapter || failed "the adapter did not go"
add_adapter || failed "the adapter did not come back"
use "after the restart"
cat /out/peripheral.log
exit $status
