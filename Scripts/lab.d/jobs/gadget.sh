# Proves the lab's USB accessories without the bench: the dock's descriptors, its answer over the serial port, its detaching and
# its coming back under another number; the scanner's reports.
#   Scripts/lab run Scripts/lab.d/jobs/gadget.sh 120
source "$WAKEBENCH_LAB_PARTS/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/accessory.sh"
set -e
start_usb
start_gadget Devices/Accessory/serial-dock.yaml
accessory_log '^found ttyACM0'
udevadm settle --timeout=20
udevadm info -q property /dev/ttyACM0 | grep -E '^ID_(VENDOR_ID|MODEL_ID|SERIAL_SHORT|USB_INTERFACE_NUM)='
exec 5<>/dev/ttyACM0
stty -F /dev/ttyACM0 raw -echo
accessory_log '^opened'
printf 'LOG\n' >&5
timeout 20 head -n 1 <&5
exec 5>&-
accessory_log '^closed'
accessory fault pulled-while-writing
accessory_log '^armed'
stop_accessory
start_gadget Devices/Accessory/hid-scanner.yaml
accessory attach
accessory_log '^found hidraw'
udevadm settle --timeout=20
node=$(sed -n 's/^found //p' /out/accessory.log)
cat "/sys/class/hidraw/$node/device/report_descriptor" | od -An -tx1
cat /out/accessory.log
