# Proves the bench on a real bluetoothd and the kernel's L2CAP channels: a device's, and those of an app that is a peripheral. The
# other scenarios are played by Scripts/air, and one more by the job record. The run folders are in /out/runs, for comparison with
# simulated runs.
#   Scripts/lab run Scripts/lab.d/jobs/wakebench.sh 1200
# machine: air
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"

start_bluetooth || exit 1
play Devices/Scenarios/l2cap-logger.yaml l2cap-logger Devices/Bluetooth/l2cap-logger.yaml
play Devices/Scenarios/thermometer-peripheral.yaml thermometer-peripheral Devices/Bluetooth/thermometer-reader.yaml
exit $status
