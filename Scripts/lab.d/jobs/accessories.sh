# Proves the real ends of accessories against true devices: the dock over USB serial with bytes both ways, pulled in the middle
# of a write and back under another number, more bytes than anyone holds; the scanner's reports; the printer over RFCOMM.
#   Scripts/lab run Scripts/lab.d/jobs/accessories.sh 900
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/accessory.sh"

start_end() { # BACKEND DEVICE
    mkfifo "/run/end-$at"
    .build/debug/AccessoryEnd "$1" "$2" >"$log" 2>&1 <"/run/end-$at" &
    end_id=$!
    exec 6>"/run/end-$at"
    heard '^started'
}

stop_end() {
    exec 6>&-
    wait "$end_id" || failed "the end's status"
    rm -f "/run/end-$at"
}

tell() { # WORD...
    echo "$*" >&6
}

heard() { # PATTERN
    if wait_for 180 has "$1" "$log"; then echo "$found"; else
        cat "$log" "/out/$at.log"
        failed "the end did not say '$1'"
    fi
}

has_read() { # COUNT
    local word count rest last=0
    tell count
    pause 1
    while read -r word count rest; do [ "$word" != read ] || last=$count; done <"$log"
    [ "$last" -ge "$1" ]
}

dock() {
    echo "== dock over accessory=udev =="
    start_gadget Devices/Accessory/serial-dock.yaml || { failed "no dock"; return; }
    start_end udev Devices/Accessory/serial-dock.yaml
    heard '^accessory-connected accessory 1'
    tell open com.example.dock.log
    heard '^accessory-session-opened accessory/com.example.dock.log 1$'
    accessory_log '^found ttyACM0' && accessory_log '^opened com.example.dock.log' || failed "the dock was not opened"
    tell write 4c4f470a
    heard '^got 57422d443120312e322e300a'
    echo "== pulled in the middle of a write, and back under another number =="
    accessory fault pulled-while-writing
    accessory_log '^armed' || failed "the dock does not wait for the write"
    tell pour 1000000
    heard '^end of session'
    heard '^accessory-disconnected accessory 1'
    grep -q '^accessory-session-ended' "$log" && failed "the session ended by itself"
    heard '^accessory-connected accessory 2'
    accessory_log '^found ttyACM1' || failed "the dock did not come back under another number"
    tell open com.example.dock.log
    heard '^accessory-session-opened accessory/com.example.dock.log 2$'
    echo "== more than anyone holds: the kernel holds the sender =="
    accessory_log '^opened com.example.dock.log' || failed "the dock was not opened again"
    tell pause
    accessory fault floods
    sleep 2
    tell resume
    wait_for 180 has_read 1000000
    heard '^read 1000000 as poured$'
    tell close
    heard '^closed'
    stop_end
    stop_accessory
}

scanner() {
    echo "== scanner over accessory=udev =="
    start_gadget Devices/Accessory/hid-scanner.yaml || { failed "no scanner"; return; }
    start_end udev Devices/Accessory/hid-scanner.yaml
    accessory attach
    heard '^accessory-connected accessory 1'
    tell open com.example.scanner.codes
    heard '^accessory-session-opened accessory/com.example.scanner.codes 1$'
    accessory_log '^opened com.example.scanner.codes' || failed "the scanner was not opened"
    tell write 0a0b0c
    accessory_log '^got 3 0a0b0c' || failed "the scanner got no report"
    heard '^got 343030363338313333333933310a0*$'
    echo "== more than anyone holds: reports overflow =="
    tell pause
    accessory fault bursts
    heard '^accessory-session-ended accessory/com.example.scanner.codes 1 failed 105'
    # What came before is still to be read; the session stays until its app closes it.
    tell resume
    wait_for 180 has_read 60000 || failed "what came before the overflow was not read"
    tell close
    heard '^closed'
    accessory detach
    heard '^accessory-disconnected accessory 1'
    stop_end
    stop_accessory
}

printer() {
    echo "== printer over accessory=rfcomm =="
    start_classic || { failed "no Bluetooth"; return; }
    start_rfcomm Devices/Accessory/rfcomm-printer.yaml || { failed "no printer"; return; }
    local address device=/tmp/rfcomm-printer.yaml
    address=$(sed -n 's/^ready //p' /out/$at.log)
    # The lab's controllers have addresses of their own.
    sed "s/address: \"[^\"]*\"/address: \"$address\"/" Devices/Accessory/rfcomm-printer.yaml >$device
    accessory attach
    start_end rfcomm $device
    heard '^accessory-connected accessory 1'
    tell open com.example.printer.raw
    heard '^accessory-session-opened accessory/com.example.printer.raw 1$'
    tell write 100401
    heard '^got 12'
    echo "== out of range in the middle of a job, and back =="
    accessory fault out-of-range
    accessory_log '^armed' || failed "the printer does not wait for the job"
    tell pour 5000
    heard '^accessory-disconnected accessory 1'
    accessory attach
    heard '^accessory-connected accessory 2'
    tell open com.example.printer.raw
    heard '^accessory-session-opened accessory/com.example.printer.raw 2$'
    echo "== more than anyone holds: the sender has no credits =="
    tell pause
    accessory fault floods
    sleep 2
    tell resume
    wait_for 120 has_read 200000
    heard '^read 200000 as poured$'
    echo "== bluetoothd is killed, and the session goes on =="
    # The end's input is not to be held open by another program.
    restart_bluetoothd 6>&- || failed "bluetoothd did not start again"
    tell write 100401
    wait_for 180 eval "[ \$(grep -c '^got 12' $log) -ge 2 ]" || failed "the session did not go on"
    stop_end
    stop_accessory
}

start_usb || exit 1
[ $# -gt 0 ] || set -- dock scanner printer
ids=()
for part in "$@"; do
    (at=$part log=/out/end-$part.log; $part; exit $status) >"/out/part-$part.log" 2>&1 &
    ids+=($!)
done
for id in "${ids[@]}"; do wait "$id" || status=1; done
for part in "$@"; do cat "/out/part-$part.log"; done
exit $status
