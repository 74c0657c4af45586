# Has SIPp call the example phone over a socket of the guest's kernel, beside the same call of the simulated server. The run
# folder is in /out/runs, for comparison with a simulated run.
#   Scripts/lab run Scripts/lab.d/jobs/voip.sh 300
/usr/sbin/ip link set lo up
WAKEBENCH_OUT=/tmp/voip Scripts/voip.d/test
status=$?
mkdir -p /out/runs && cp -r /tmp/voip/real /out/runs/voip-call
exit $status
