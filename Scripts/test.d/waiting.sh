# For the scripts of tests: waiting with a bound, and ports of their own. Source it in the repository's folder.
#
#   until_true WHAT COMMAND...   waits up to a minute until the command succeeds; when it does not, says that WHAT was awaited,
#                                shows the ends of the files that `seen` lists, and ends the script with 1
#   hold_ports NAME...           sets each name to a free port of 127.0.0.1, which no other process is given before the script ends

seen=()

until_true() { # WHAT COMMAND [WORD]...
    local deadline=$((EPOCHSECONDS + 60)) file
    until "${@:2}"; do
        if [ "$EPOCHSECONDS" -gt "$deadline" ]; then
            echo "${0#./}: waited for a minute in vain: $1" >&2
            for file in "${seen[@]}"; do
                echo "the end of $file:" >&2
                tail -n 20 "$file" >&2 || true
            done
            exit 1
        fi
        sleep 0.05
    done
}

hold_ports() { # NAME...
    local held
    exec {held}< <(exec /usr/bin/python3 Scripts/test.d/ports.py $$ $#)
    read -r "$@" <&"$held"
    exec {held}<&-
}
