# Plays the accessories' scenarios with the real ends, all at once: a dock and a scanner that are gadgets of this kernel, and a
# printer on the air, each driven from its device file. The run folders are in /out/runs, for comparison with simulated runs.
#   Scripts/lab run Scripts/lab.d/jobs/accessory-scenarios.sh 600 [NAME...]
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/guest/scenarios.sh"
source "$WAKEBENCH_LAB_PARTS/guest/accessory.sh"

start_usb || exit 1
[ $# -gt 0 ] || set -- serial-dock hid-scanner rfcomm-printer
ids=()
for name in "$@"; do
    case $name in
    rfcomm-*) (play_rfcomm "$name"; exit $status) & ;;
    *) (play_gadget "$name"; exit $status) & ;;
    esac
    ids+=($!)
done
for id in "${ids[@]}"; do wait "$id" || status=1; done
exit $status
