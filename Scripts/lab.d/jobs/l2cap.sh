# Plays one scenario with a real channel: the app opens the kernel's L2CAP channel to a Bumble peripheral, which sends blocks over
# it. The run folder is /out/runs/l2cap-logger, for comparison with a simulated run.
#   Scripts/lab run Scripts/lab.d/jobs/l2cap.sh 300
source "$WAKEBENCH_LAB_PARTS/bluetooth.sh"
status=0
start_bluetooth || exit 1
start_belt Devices/Bluetooth/l2cap-logger.yaml || exit 1
.build/debug/wakebench run Devices/Scenarios/l2cap-logger.yaml --backend bluez --apps .build/apps --out /tmp/runs/l2cap-logger || status=1
mkdir -p /out/runs && cp -r /tmp/runs/l2cap-logger /out/runs/
cat /tmp/runs/l2cap-logger/apps/*.log
sed 's/^/belt: /' /out/belt.log
exit $status
