"""How a peer on the air plays, and ends at SIGTERM."""

import asyncio
import os
import signal

from device_format import say


async def play(work):
    """Plays until the work is done or SIGTERM comes. True if it is done; what it raises is raised."""
    playing = asyncio.ensure_future(work)
    told = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, told.set)
    telling = asyncio.ensure_future(told.wait())
    await asyncio.wait({playing, telling}, return_when=asyncio.FIRST_COMPLETED)
    if playing.done():
        telling.cancel()
        if playing.cancelled():
            return False
        playing.result()
        return True
    # More than once: Bumble waits for its controller by wait_for, which loses a cancellation that comes together with the answer
    # in Python before 3.12.
    for _ in range(5):
        playing.cancel()
        if (await asyncio.wait({playing}, timeout=1))[0]:
            break
    return False


async def leave(last):
    """Does what is last, within 5 s, and ends the process: Bumble would go on, and the controller is left as it is."""
    try:
        await asyncio.wait_for(last, 5)
    except Exception as error:
        say("ending failed:", type(error).__name__, error)
        os._exit(1)
    say("ended")
    os._exit(0)
