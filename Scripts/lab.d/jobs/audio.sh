# Proves sound on real ALSA cards of the kernel.
# machine: usb-sound
#   Scripts/lab run Scripts/lab.d/jobs/audio.sh 300
source "$WAKEBENCH_LAB_PARTS/bluetooth.sh"
source "$WAKEBENCH_LAB_PARTS/audio.sh"
status=0

echo "== loopback: aplay to arecord =="
time start_sound || exit 1
cat /proc/asound/cards
/usr/bin/python3 "$samples" make /tmp/played.raw 48000
arecord -q -D hw:Loopback,1,0 -t raw -f S16_LE -r 48000 -c 2 -d 3 /tmp/heard.raw &
recorder=$!
wait_for 20 test -s /tmp/heard.raw
aplay -q -D hw:Loopback,0,0 -t raw -f S16_LE -r 48000 -c 2 /tmp/played.raw || status=1
wait "$recorder"
/usr/bin/python3 "$samples" compare /tmp/played.raw /tmp/heard.raw || status=1

echo "== usb =="
time start_usb_sound || status=1
cat /proc/asound/cards
cat /proc/asound/Audio/stream0
aplay -q -D hw:Audio,0 -t raw -f S16_LE -r 48000 -c 2 /tmp/played.raw || status=1
aplay -D hw:Audio,0 -t raw -f S16_LE -r 48000 -c 2 /tmp/played.raw &
sleep 0.5
unplug_usb_sound || status=1
wait $!
cat /proc/asound/cards
plug_usb_sound || status=1
unplug_loopback || status=1
plug_loopback || status=1
cat /proc/asound/cards
cp /tmp/played.raw /out
dmesg | tail -20
exit $status
