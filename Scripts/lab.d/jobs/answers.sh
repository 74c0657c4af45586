# Plays devices that answer on the air, with a real bluetoothd between them and the app: a glucose meter's session over its Record
# Access Control Point, and the echo of a UART service in pieces. The run folders are in /out/runs, for comparison with simulated
# runs.
#   Scripts/lab run Scripts/lab.d/jobs/answers.sh 600
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"

start_bluetooth || exit 1
play Devices/Scenarios/glucose-records.yaml glucose-records Devices/Bluetooth/glucose-meter.yaml
play Devices/Scenarios/uart-echo.yaml uart-echo Devices/Bluetooth/nordic-uart.yaml
exit $status
