# Plays devices that answer on the air, with a real bluetoothd between them and the app: a glucose meter's session over its Record
# Access Control Point, and the echo of a UART service in pieces. The run folders are in /out/runs, for comparison with simulated
# runs.
#   Scripts/lab run Scripts/lab.d/jobs/answers.sh 600
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"

start_bluetooth || exit 1
# The meter takes longer from one measurement to the next, so that the two writes which break a report off come before the second
# one here, too: they took 1.2 s on a guest that shared its processors. /out/slow is for the simulated run.
mkdir -p /out/slow/{Scenarios,Bluetooth}
sed 's/every: 1500ms/every: 4s/' Devices/Bluetooth/glucose-meter.yaml >/out/slow/Bluetooth/glucose-meter.yaml
sed 's/within: 20s/within: 80s/' Devices/Scenarios/glucose-records.yaml >/out/slow/Scenarios/glucose-records.yaml
play /out/slow/Scenarios/glucose-records.yaml glucose-records /out/slow/Bluetooth/glucose-meter.yaml
play Devices/Scenarios/uart-echo.yaml uart-echo Devices/Bluetooth/nordic-uart.yaml
exit $status
