# Plays scenarios with --backend bluez, each against a device file, and shows what the apps and the other ends said. The run
# folders are in /out/runs, for comparison with simulated runs.
#   Scripts/lab run Scripts/lab.d/jobs/scenario.sh SECONDS SCENARIO.yaml DEVICE.yaml...
# machine: air
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"
start_bluetooth || exit 1
while [ $# -ge 2 ]; do
    name=$(basename "$1" .yaml)
    play "$1" "$name" "$2"
    cat "/tmp/runs/$name/apps/"*.log
    sed 's/^/other end: /' "/out/other-end-$name.log"
    shift 2
done
exit $status
