# Records the belt on the air, at its own controller, while its scenario is played: Bumble writes /out/belt.btsnoop, and the run
# folder is in /out/runs, so that a device made of the one can be compared with the other. btmon would record the bench's end, and
# that of bluez 5.66 dies of what it records.
#   Scripts/lab run Scripts/lab.d/jobs/capture.sh 300
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"

start_bluetooth || exit 1
export BUMBLE_SNOOPER=btsnoop:file:/out/belt.btsnoop
play Devices/Scenarios/heart-rate-belt.yaml heart-rate-belt Devices/Bluetooth/heart-rate-belt.yaml
[ -s /out/belt.btsnoop ] || failed "no capture"
exit $status
