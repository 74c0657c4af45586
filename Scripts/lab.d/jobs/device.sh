# Fuzzes a healthy lamp and one that dies, whose death must be named, over the kernel's Attribute Protocol sockets. Scripts/air has
# live checks, and a lamp that hangs. The records are in /out.
#   Scripts/lab run Scripts/lab.d/jobs/device.sh 420
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"

# The command's output is shown and kept in /out/NAME.
ends_with() { # STATUS NAME COMMAND...
    local wanted=$1 name=$2 found began=$EPOCHSECONDS
    shift 2
    echo "== $name =="
    "$@" >"/out/$name" 2>"/out/$name.errors"
    found=$?
    sed 's/^/    /' "/out/$name.errors" "/out/$name"
    [ "$found" = "$wanted" ] || failed "$name ended with $found, not $wanted"
    echo "($((EPOCHSECONDS - began)) s)"
}

says() { # NAME TEXT
    grep -qF -- "$2" "/out/$1" || failed "$1 does not say: $2"
}

# Before bluetoothd can want their controllers.
start_lamps() {
    local lamp=$WAKEBENCH_LAB_PARTS/devices/lamp.yaml
    start_devices "$lamp=healthy" "$lamp=vanishing" --hci hci-socket:1 --hci hci-socket:2 --local-name vanishing=Vanishing \
        --address vanishing=F0:11:22:33:44:88 --bug vanishing=vanish:100
}

ends_with 12 without-bluetooth "$bench" device check --live Lamp --within 5s
start_bus && start_radio 3 && start_lamps && start_bluetoothd || exit 1

ends_with 0 healthy "$bench" device fuzz Lamp --for 8s --within 60s --seed 7 --writes all -o /out/fuzz-healthy
says healthy "it is there, and answers"
grep -qE 'took one|link lost|no answer|another value' /out/healthy && failed "something is found about a healthy lamp"
ends_with 7 vanishing "$bench" device fuzz Vanishing --for 30s --within 60s --seed 7 --writes all -o /out/fuzz-vanishing
says vanishing "it is gone from the air: lost with operation"
length=$(sed -n 's/.*"died_of":{[^}]*"length":\([0-9]*\).*/\1/p' /out/fuzz-vanishing/summary.json)
[ "${length:-0}" -ge 100 ] || failed "it died of ${length:-no} bytes, and is made to die of 100 or more"
exit $status
