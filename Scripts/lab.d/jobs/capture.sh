# Records a scenario with the belt at both ends: the run writes down its own adapter's traffic, hci.btsnoop and hci.pcapng in
# /out/runs/heart-rate-belt, and the belt that of its controller, /out/belt.btsnoop; so that devices made of them can be
# compared with the belt. Without the right to listen the run does not begin.
#   Scripts/lab run Scripts/lab.d/jobs/capture.sh 300
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"

start_bluetooth || exit 1
scenario=Devices/Scenarios/heart-rate-belt.yaml
setpriv --bounding-set -net_raw,-net_admin "$bench" run $scenario --backend bluez --apps .build/apps --out /tmp/refused --capture btsnoop
[ $? = 12 ] && [ ! -e /tmp/refused ] || failed "a run without the right to listen"
start_device Devices/Bluetooth/heart-rate-belt.yaml --capture device=/out/belt.btsnoop || exit 1
"$bench" run $scenario --backend bluez "${budget[@]}" --apps .build/apps --out /tmp/runs/heart-rate-belt --capture btsnoop,pcapng ||
    failed heart-rate-belt
keep heart-rate-belt
stop_devices
[ -s /out/belt.btsnoop ] || failed "no capture"
exit $status
