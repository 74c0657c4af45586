# Proves sound on real ALSA cards of the kernel: a loopback card, first between two programs of others, then between two apps;
# the radio's scenario; and cards that go while an app plays. The run folders are in /out/runs, for comparison with simulated
# runs.
# machine: usb-sound
#   Scripts/lab run Scripts/lab.d/jobs/audio.sh 420
source "$WAKEBENCH_LAB_PARTS/guest/job.sh"
source "$WAKEBENCH_LAB_PARTS/guest/audio.sh"

run() { # SCENARIO NAME ARG...
    local scenario=$1 name=$2
    shift 2
    "$bench" run "$scenario" --backend audio=alsa --sound-card hw:Loopback,0,0 --out "/tmp/runs/$name" "$@"
}

finish() { # NAME STATUS
    [ "$2" = 0 ] || failed "$1"
    mkdir -p /out/runs && cp -r "/tmp/runs/$1" "/out/runs/$1"
}

# A machine that is busy may come too late for a card, and then samples are missing: what was not all heard is played again.
same_samples() { # ATTEMPT-COMMAND PLAYED HEARD [FORMAT FORMAT]
    local attempt=$1 time
    shift
    for time in 1 2 3 4 5 6; do
        "$attempt"
        /usr/bin/python3 "$samples" compare "$@" && return
        echo "attempt $time"
    done
    failed "$attempt: not all samples were heard"
}

between_programs() {
    rm -f /tmp/heard.raw
    arecord -q -D hw:Loopback,1,0 -t raw -f S16_LE -r 48000 -c 2 -d 3 /tmp/heard.raw &
    recorder=$!
    wait_for 120 test -s /tmp/heard.raw
    aplay -q -D hw:Loopback,0,0 -t raw -f S16_LE -r 48000 -c 2 /tmp/played.raw
    wait "$recorder"
}

between_apps() {
    rm -rf /tmp/runs/loopback
    run Scripts/lab.d/scenarios/loopback.yaml loopback --microphone hw:Loopback,1,0 --apps /tmp/apps
    ended=$?
}

start_sound || exit 1
start_usb_sound || exit 1
cat /proc/asound/cards
/usr/bin/python3 "$samples" make /tmp/played.raw 72000

echo "== loopback: aplay to arecord =="
same_samples between_programs /tmp/played.raw /tmp/heard.raw

echo "== loopback: an app to another =="
for name in tone recorder; do
    mkdir -p "/tmp/apps/$name.app"
    sed "s/NAME/$name/" "$WAKEBENCH_LAB_PARTS/bundles/Sounding/Info.plist" >"/tmp/apps/$name.app/Info.plist"
    cp "$WAKEBENCH_LAB_PARTS/bundles/Sounding/sounding.py" "/tmp/apps/$name.app/$name"
done
same_samples between_apps /tmp/played.raw /tmp/heard.f32 s16 mono
# The attempt that was all heard is the one that counts.
finish loopback "$ended"

echo "== tone-radio --backend audio=alsa =="
run Devices/Scenarios/tone-radio.yaml tone-radio --apps .build/apps-release
finish tone-radio $?

echo "== cards removed while an app plays =="
log=/tmp/runs/card-removed/apps/com.example.tone-radio.log
run Scripts/lab.d/scenarios/card-removed.yaml card-removed --apps .build/apps-release &
bench_id=$!
routes() { # COUNT
    wait_for 120 sh -c "[ \$(grep -c '^route changed' $log) -ge $1 ]" || failed "the app heard of fewer than $1 routes"
}
wait_for 120 grep -q '^playing' $log || failed "the app does not play"
unplug_usb_sound || failed "the USB card stays"
routes 1
plug_usb_sound || failed "the USB card does not come back"
routes 2
unplug_usb_sound || failed "the USB card stays the second time"
routes 3
unplug_loopback || failed "the loopback card stays"
routes 4
plug_loopback || failed "the loopback card does not come back"
routes 5
wait "$bench_id"
finish card-removed $?
cat $log
exit $status
