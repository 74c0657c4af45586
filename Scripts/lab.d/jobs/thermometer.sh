# Plays the example app that is a peripheral with --backend bluez: a Bumble central wakes it when it is suspended, and the next
# visit relaunches it. The run folder is /out/runs/thermometer, for comparison with a simulated run.
#   Scripts/lab run Scripts/lab.d/jobs/thermometer.sh 400
source "$WAKEBENCH_LAB_PARTS/bluetooth.sh"
status=0
start_bluetooth || exit 1
start_central Scripts/lab.d/devices/thermometer-reader.yaml || exit 1
.build/debug/wakebench run Scripts/lab.d/scenarios/thermometer.yaml --backend bluez --apps .build/apps --out /tmp/runs/thermometer || status=1
mkdir -p /out/runs && cp -r /tmp/runs/thermometer /out/runs/
cat /tmp/runs/thermometer/apps/*.log
sed 's/^/central: /' /out/central.log
exit $status
