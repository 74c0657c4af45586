# Proves the lab's Bluetooth: bluetoothd answers as Scripts/air.d/contract.yaml has it, which is held against Scripts/radio too; a belt
# from a device file notifies a central, bluetoothd restarts, the adapter goes and returns.
#   Scripts/lab run Scripts/lab.d/jobs/bluetooth.sh 600 [DEVICE.yaml]
source "$WAKEBENCH_LAB_PARTS/guest/bluetooth.sh"
device=${1:-Devices/Bluetooth/heart-rate-belt.yaml}
name=$(sed -n 's/^name: *//p' "$device" | tr -d '"')
set -e
start_bluetooth
start_device Scripts/air.d/devices/contract.yaml
/usr/bin/python3 -B Scripts/air.d/contract.py --bus system --of bluetoothd
stop_devices
start_device "$device"
bluetoothctl power on >/dev/null
timeout 400 /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/peers/bleak_central.py" "$name" 2a37 2
devices_log '^device: disconnected'
remove_adapter
add_adapter
bluetoothctl power on >/dev/null
restart_bluetoothd
bluetoothctl power on >/dev/null
timeout 400 /usr/bin/python3 "$WAKEBENCH_LAB_PARTS/peers/bleak_central.py" "$name" 2a37 1
cat /out/devices.log
