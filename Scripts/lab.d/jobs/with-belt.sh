# Starts bluetoothd on hci0 and a belt from a device file beside the guest, then runs a command and ends with its status.
#   Scripts/lab run Scripts/lab.d/jobs/with-belt.sh SECONDS DEVICE.yaml COMMAND [ARGUMENT...]
# machine: air
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
device=$1
shift
start_bluetooth && start_device "$device" || exit 125
"$@"
status=$?
# What the other end saw, for whoever reads the log.
cat /out/devices.log
exit $status
