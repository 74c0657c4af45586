"""Whether the bench has suspended a process, by whichever freezer it uses."""

import time


def is_suspended(pid):
    with open(f"/proc/{pid}/cgroup") as file:
        lines = file.read().splitlines()
    for line in lines:
        number, controllers, path = line.split(":", 2)
        if "wakebench" not in path:
            continue
        roots = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified", "/sys/fs/cgroup/freezer"]
        for root in roots:
            try:
                with open(f"{root}{path}/cgroup.events") as file:
                    if "frozen 1" in file.read():
                        return True
            except OSError:
                pass
            try:
                with open(f"{root}{path}/freezer.state") as file:
                    if file.read().strip() == "FROZEN":
                        return True
            except OSError:
                pass
    with open(f"/proc/{pid}/stat") as file:
        return file.read().rsplit(")", 1)[1].split()[0] == "T"


def wait_until_suspended(pid, seconds=60):
    end = time.monotonic() + seconds
    while not is_suspended(pid):
        if time.monotonic() > end:
            with open(f"/proc/{pid}/status") as file:
                raise SystemExit(f"process {pid} was not suspended within {seconds} s: {file.read(300)}")
        time.sleep(0.001)
