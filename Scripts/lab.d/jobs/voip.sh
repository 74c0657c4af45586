# Has SIPp call the example phone over a socket of the guest's kernel, and the call sound on an ALSA card, beside the same call
# of the simulated server. The run folder is in /out/runs, for comparison with a simulated run.
#   Scripts/lab run Scripts/lab.d/jobs/voip.sh 300
source "$WAKEBENCH_LAB_PARTS/guest/job.sh"
source "$WAKEBENCH_LAB_PARTS/guest/audio.sh"
start_sound || exit 1
/usr/sbin/ip link set lo up
WAKEBENCH=$bench WAKEBENCH_OUT=/tmp/voip WAKEBENCH_SOUND_CARD=hw:Loopback,0,0 WAKEBENCH_BUNDLES=.build/apps-release Scripts/voip.d/test ||
    failed "voip-call"
mkdir -p /out/runs && cp -r /tmp/voip/real /out/runs/voip-call
exit $status
