# Proves the bench on a real bluetoothd: scenarios with --backend bluez against a Bumble belt that is driven from the same device
# file (the first of them is the job capture's), two apps on one characteristic, an L2CAP channel, an app that is a peripheral.
# The run folders are in /out/runs, for comparison with simulated runs.
#   Scripts/lab run Scripts/lab.d/jobs/wakebench.sh 1200
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"

start_bluetooth || exit 1
for name in heart-rate-belt-force-quit two-apps-shared-belt; do
    play "Devices/Scenarios/$name.yaml" "$name" Devices/Bluetooth/heart-rate-belt.yaml
done
play Devices/Scenarios/l2cap-logger.yaml l2cap-logger Devices/Bluetooth/l2cap-logger.yaml
play Devices/Scenarios/thermometer-peripheral.yaml thermometer-peripheral Devices/Bluetooth/thermometer-reader.yaml
"$bench" why com.example.heartrate --run /tmp/runs/heart-rate-belt-force-quit || failed "why com.example.heartrate"
exit $status
