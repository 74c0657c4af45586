# For jobs in the lab's guest: the bench, waiting, and failing. Source it.
#
#   $bench                          the release build of wakebench: the guest's processor is too slow for the other
#   ${budget[@]}                    what a run is told of a guest that is slow
#   wait_for SECONDS COMMAND...     waits until the command succeeds; says so and fails when it does not in time
#   has PATTERN FILE                whether a line of a short file matches; the first that does is in $found
#   end_process ID [SECONDS]        ends a child by SIGTERM, by SIGKILL when it goes on; says so
#   failed WHAT                     says what failed, and sets status=1: a job goes on, and ends with `exit $status`

status=0
bench=$PWD/.build/release/wakebench
# A launch may take an emulated processor longer than the 20 s after which the watchdog would end the app.
budget=(--set launchBudget=2m)

# On an emulated processor each start of a program, sleep or grep too, takes a tenth of a second of it. So one program sleeps for all
# waits: it answers each octet after 0.2 s. The shell's own read -t is ended by its alarm now and then.
coproc clock {
    exec /usr/bin/python3 -ISc 'import os, time
while octets := os.read(0, 100):
    time.sleep(0.2)
    os.write(1, octets)'
}
exec {asks}>&"${clock[1]}" {answers}<&"${clock[0]}"

pause() { # TIMES-0.2-S
    local number
    for ((number = 0; number < $1; number++)); do
        echo >&"$asks"
        read -r -u "$answers"
    done
}

wait_for() { # SECONDS COMMAND...
    local deadline=$((EPOCHSECONDS + $1)) times=1
    shift
    until "$@" >/dev/null 2>&1; do
        if [ "$EPOCHSECONDS" -ge "$deadline" ]; then
            echo "lab: gave up waiting for: $*" >&2
            return 1
        fi
        # Ever less often, for the command may be a program.
        pause "$times"
        [ "$times" = 4 ] || times=$((times * 2))
    done
}

has() { # PATTERN FILE
    local line
    while IFS= read -r line || [ -n "$line" ]; do
        [[ $line =~ $1 ]] && found=$line && return
    done <"$2"
    return 1
}

is_gone() { # ID
    ! kill -0 "$1"
}

end_process() { # ID [SECONDS]
    kill "$1" 2>/dev/null || return 0
    if ! wait_for "${2:-60}" is_gone "$1"; then
        echo "lab: this did not end at SIGTERM, and is killed: $(tr '\0' ' ' <"/proc/$1/cmdline")" >&2
        kill -KILL "$1" 2>/dev/null
    fi
    wait "$1" 2>/dev/null || true
}

failed() { # WHAT
    echo "FAILED: $*"
    status=1
}
