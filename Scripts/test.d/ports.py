"""Holds free TCP ports of 127.0.0.1 for a script until it ends, and prints them: ports.py SCRIPT'S-PROCESS COUNT.

They are bound and nothing listens on them: no other process is given one, and a server of the script that sets SO_REUSEADDR can
listen on it, also after it was ended and begun anew.
"""
import ctypes
import os
import signal
import socket
import sys

PR_SET_PDEATHSIG = 1
script, count = int(sys.argv[1]), int(sys.argv[2])
ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
if os.getppid() != script:
    # It ended before it could be watched.
    sys.exit(1)
held = []
for _ in range(count):
    held.append(socket.socket())
    held[-1].setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    held[-1].bind(("127.0.0.1", 0))
print(*(each.getsockname()[1] for each in held), flush=True)
while True:
    signal.pause()
