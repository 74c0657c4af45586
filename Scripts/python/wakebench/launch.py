"""Becomes the daemon, as a child of a test session: run by its path, `launch.py PARENT SOCKET PROGRAM WORDS`.

The listening socket is handed over as systemd does, so that whoever connects is heard as soon as the daemon serves, and
hears at once when it could not be started. It ends when the session does, however that ends.
"""

import ctypes
import os
import signal
import sys

FIRST = 3  # SD_LISTEN_FDS_START
PR_SET_PDEATHSIG = 1


def main(parent: int, listening: int, words: "list[str]") -> None:
    """Becomes the program of the words."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:
        # It went before it could be told.
        sys.exit(1)
    if listening == FIRST:
        os.set_inheritable(listening, True)
    else:
        os.dup2(listening, FIRST)
        os.close(listening)
    os.environ.update(LISTEN_FDS="1", LISTEN_PID=str(os.getpid()))
    os.execv(words[0], words)


if __name__ == "__main__":
    main(int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:])
