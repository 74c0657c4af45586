# For jobs in the lab's guest: sound cards without hardware. Source it after job.sh.
#
#   start_sound                udevd, and a loopback card: what is played on hw:Loopback,0 is heard on hw:Loopback,1
#   unplug_loopback            takes the loopback card away, whoever plays on it
#   plug_loopback              brings it back
#   start_usb_sound            a USB sound card is plugged in: hw:Audio. The job says "# machine: usb-sound", and what the
#                              card plays is in .lab/out/usb-sound.wav afterwards
#   unplug_usb_sound           it is pulled out
#   plug_usb_sound             it is plugged in again
#   card_is_there NAME         whether the kernel has a card of that name

samples=$WAKEBENCH_LAB_PARTS/guest/samples.py

card_is_there() { # NAME
    [ -e "/proc/asound/$1" ]
}

card_is_gone() { # NAME
    ! card_is_there "$1"
}

start_udev() {
    [ -S /run/udev/control ] || /lib/systemd/systemd-udevd --daemon
}

start_sound() {
    start_udev || return
    modprobe snd-aloop id=Loopback pcm_substreams=1 && wait_for 120 card_is_there Loopback
    wait_for 120 test -e /dev/snd/controlC0
}

# The driver waits until everybody has let go of the card, who hear of it at once.
unplug_loopback() {
    echo snd_aloop.0 >/sys/bus/platform/drivers/snd_aloop/unbind &
    unplug_id=$!
    wait_for 120 card_is_gone Loopback
}

plug_loopback() {
    wait "$unplug_id"
    echo snd_aloop.0 >/sys/bus/platform/drivers/snd_aloop/bind
    wait_for 120 card_is_there Loopback
}

# dummy_hcd has no isochronous transfers, and so no sound: this card is the machine's own.
start_usb_sound() {
    start_udev || return
    modprobe snd-usb-audio && modprobe xhci-pci && wait_for 120 card_is_there Audio
    usb_sound=$(dirname "$(realpath /sys/class/sound/"$(readlink /proc/asound/Audio)"/device)")
}

unplug_usb_sound() {
    echo 0 >"$usb_sound/authorized" && wait_for 120 card_is_gone Audio
}

plug_usb_sound() {
    echo 1 >"$usb_sound/authorized" && wait_for 120 card_is_there Audio
}
