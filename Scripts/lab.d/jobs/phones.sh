# Phones of one daemon: two with an adapter and a belt each, and a third that shares adapter and belt with the first.
#   Scripts/lab run Scripts/lab.d/jobs/phones.sh 480
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
folder=/tmp/phones
export WAKEBENCH_STATE=$folder/state WAKEBENCH_SOCKET=$folder/control.sock

start_belts() {
    local file=Devices/Bluetooth/steady-belt.yaml
    start_devices $file=first $file=second --hci hci-socket:1 --hci hci-socket:2 --local-name "first=First Belt" \
        --local-name "second=Second Belt" --address first=F0:11:22:33:44:88 --address second=F0:11:22:33:44:99
}

adapter() { # INDEX
    hciconfig "hci$1" | sed -n 's/.*BD Address: \([0-9A-F:]*\).*/\1/p'
}

# A phone with an app that follows a belt, by an adapter.
make_phone() { # PHONE ADDRESS INDEX
    sed "s/F0:11:22:33:44:77/$2/" Devices/Bluetooth/steady-belt.yaml >"$folder/$1-belt.yaml"
    cat >"$folder/$1.yaml" <<END
scenario: $1
devices: [{file: $1-belt.yaml, name: belt}]
apps:
  - scripted: com.acme.$1
    name: heart
    modes: [bluetooth-central]
    restore-identifier: heart
    uses: [{device: belt, characteristic: 2A37}]
    on: [{event: any, work: 1s, then: end}]
END
    "$bench" phone create "$1" --scenario "$folder/$1.yaml" --backend bluez --adapter "$(adapter "$3")" >/dev/null && "$bench" phone boot "$1" &&
        "$bench" app launch heart -p "$1" --no-wait
}

values() { # PHONE
    "$bench" log "$folder/state/phones/$1/run" 2>/dev/null | grep -c '"kind":"characteristic-notified"'
}

more_values() { # PHONE THAN
    [ "$(values "$1")" -gt "$2" ]
}

# Service goes on: two more values than there are now, for each of these phones.
goes_on() { # WHEN PHONE...
    local when=$1 phone before
    shift
    for phone; do
        before=$(values "$phone")
        if wait_for 90 more_values "$phone" "$((before + 1))"; then
            echo "$phone is served $when (values before $before, now $(values "$phone"))"
        else
            failed "$phone is not served $when"
            "$bench" log "$folder/state/phones/$phone/run" | tail -n 5 | grep -o '"t":"[^"]*"\|"kind":"[^"]*"'
        fi
    done
}

mkdir -p $folder
# Only two of the controllers are bluetoothd's: the belts hold theirs.
start_bus && start_radio 4 && start_belts && start_bluetoothd && wait_for 30 bluez_has /org/bluez/hci3 || exit 1
"$bench" daemon start || exit 1
make_phone one F0:11:22:33:44:88 0 || failed "phone one"
make_phone two F0:11:22:33:44:99 3 || failed "phone two"
goes_on "with an adapter of its own" one two
"$bench" app home heart -p one --no-wait
"$bench" app wait heart suspended -p one --timeout 60s || failed "the app of phone one is not suspended"
goes_on "while the app of one is suspended" one two
"$bench" log "$folder/state/phones/one/run" | grep '"verdict":"resume"' >/dev/null || failed "a value resumes no app"
# There is one link between an adapter and a belt: each phone hears what the belt says.
make_phone three F0:11:22:33:44:88 0 || failed "phone three"
goes_on "with the adapter and the belt of one" one three
"$bench" phone shutdown three || failed "shutting three down"
goes_on "after three was shut down" one two
echo "one lost its link $("$bench" log "$folder/state/phones/one/run" | grep -c '"kind":"peripheral-disconnected"') times by that"
kill -KILL "$("$bench" daemon status --json | sed -n 's/.*"pid":\([0-9]*\).*/\1/p')"
"$bench" daemon start
goes_on "by the daemon that came after one that was killed" one two
for phone in one two; do
    "$bench" phone shutdown "$phone" && "$bench" run --from "$folder/state/phones/$phone/run" || failed "the session of $phone again"
done
"$bench" daemon stop
exit $status
