"""Makes sound that can be known again, and compares what was played with what was heard.

    samples.py make FILE FRAMES             16-bit stereo, little-endian, both channels alike; no frame is silent
    samples.py compare PLAYED HEARD [FORMAT FORMAT]
                                            FORMAT is s16 (as when left out), f32, or mono for f32 of one channel

Silence is left out of both. Whoever records may begin later and end earlier; from where both have begun to where one of
them ends every sample is compared, and none may differ: a loopback card copies bits, and 16 bits that become a float and
16 bits again are the same. After all was played, a card plays what is left in its buffer until somebody notices. Exits
with 1 otherwise.
"""

import array
import sys


def make(path, frames):
    samples = array.array("h")
    value = 1
    for _ in range(frames):
        # A linear congruential generator of full period: the sequence is the same each time, and never repeats nearby.
        value = (value * 1103515245 + 12345) & 0x7FFFFFFF
        sample = (value >> 12) % 20000 + 1
        samples.extend((sample, sample))
    with open(path, "wb") as file:
        samples.tofile(file)


def read(path, form):
    """The samples of a file in 16-bit numbers, two a frame, without silence."""
    samples = array.array("h" if form == "s16" else "f")
    with open(path, "rb") as file:
        data = file.read()
    samples.frombytes(data[: len(data) // samples.itemsize * samples.itemsize])
    numbers = [round(each * 32768) for each in samples] if form != "s16" else list(samples)
    if form != "s16" and any(number != each * 32768 for number, each in zip(numbers, samples)):
        sys.exit("samples: what was heard is no 16-bit sound")
    return [each for each in numbers if each for _ in range(2 if form == "mono" else 1)]


def compare(played, heard):
    """The number of samples in common, or a complaint."""
    if not played or not heard:
        return f"nothing was {'played' if not played else 'heard'}"
    # Where in what was played that which was heard begins.
    key = heard[:64]
    for start in range(len(played)):
        if played[start : start + len(key)] == key[: len(played) - start]:
            break
    else:
        return "what was heard was never played"
    length = min(len(played) - start, len(heard))
    for place in range(length):
        if played[start + place] != heard[place]:
            return f"sample {place} of {length} was {played[start + place]} and was heard as {heard[place]}"
    return length


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2], int(sys.argv[3]))
        sys.exit(0)
    forms = sys.argv[4:] or ["s16", "s16"]
    result = compare(read(sys.argv[2], forms[0]), read(sys.argv[3], forms[1]))
    if isinstance(result, str):
        sys.exit(f"samples: {result}")
    print(f"samples: {result} of {result} equal")
