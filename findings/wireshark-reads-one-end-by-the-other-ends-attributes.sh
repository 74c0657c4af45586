#!/usr/bin/env bash
# Wireshark 4.0.17 (Debian 12's tshark) keeps one table of attributes for a Bluetooth LE link. The Attribute Protocol has two: each end
# may be a server, with handles of its own. Where both ends read each other's table, as a phone and an accessory do that are both GATT
# servers, a handle has the meaning that was read last, at whichever end: values of one end get the name and the fields of an attribute of
# the other, and a value that does not fit those fields is shown as malformed.
#
# Seen: a sensor has Heart Rate Measurement (2A37) at handle 0x000b, and notifies it. When the other end has shown its own PnP ID (2A50)
# at its own handle 0x000b meanwhile, the same notification is called PnP ID, and malformed. This script fails when that has changed. It
# needs python3 and apt of Debian 12.
set -euo pipefail
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT
cd "$folder"
version=4.0.17-0+deb12u3
packages=()
for name in tshark libwireshark16 libwiretap13 libwsutil14 libwireshark-data; do packages+=("$name=$version"); done
# The libraries of others that this machine lacks.
for name in $(apt-get --simulate --no-install-recommends install "tshark=$version" | awk '/^Inst/ {print $2}'); do
    case " ${packages[*]} " in *" $name="*) ;; *) packages+=("$name") ;; esac
done
mkdir packages root
chmod 755 . packages
(cd packages && apt-get download -qq "${packages[@]}" 2>apt.log || { cat apt.log >&2; exit 1; })
for package in packages/*.deb; do dpkg-deb --extract "$package" root; done

python3 - <<'END'
import struct

SENT, RECEIVED = 0, 1
LE_LINK = bytes.fromhex("043e13 01 00 4000 00 00 665544332211 1800 0000 2a00 00")
DECLARATIONS = bytes.fromhex("08 0100 ffff 0328")


def acl(attribute_packet):
    """An ATT packet on the link 0x0040."""
    frame = struct.pack("<HH", len(attribute_packet), 4) + attribute_packet
    return b"\2" + struct.pack("<HH", 0x2040, len(frame)) + frame


def declared(handle, uuid):
    """The answer: one characteristic, which is read or notified, with its value behind it."""
    return acl(struct.pack("<BBHBHH", 0x09, 7, handle, 0x12, handle + 1, uuid))


def write(file, packets):
    with open(file, "wb") as capture:
        capture.write(b"btsnoop\0" + struct.pack(">II", 1, 1002))
        for index, (direction, packet) in enumerate(packets):
            flags = direction | (2 if packet[0] == 4 else 0)
            time = 0x00E03AB44A676000 + index * 1000
            capture.write(struct.pack(">IIIIQ", len(packet), len(packet), flags, 0, time) + packet)


sensor = [(SENT, acl(DECLARATIONS)), (RECEIVED, declared(0x000A, 0x2A37))]
phone = [(RECEIVED, acl(DECLARATIONS)), (SENT, declared(0x000A, 0x2A50))]
notified = [(RECEIVED, acl(bytes.fromhex("1b 0b00 0048")))]
write("one-server.btsnoop", [(RECEIVED, LE_LINK), *sensor, *notified])
write("two-servers.btsnoop", [(RECEIVED, LE_LINK), *sensor, *phone, *notified])
END

notification() { # FILE
    LD_LIBRARY_PATH=$folder/root/usr/lib/x86_64-linux-gnu HOME=$folder root/usr/bin/tshark -r "$1" -Y 'btatt.opcode == 0x1b' \
        -T fields -e _ws.col.Info 2>tshark.log || { cat tshark.log >&2; exit 1; }
}

one=$(notification one-server.btsnoop)
two=$(notification two-servers.btsnoop)
echo "the sensor is the only server:   $one"
echo "both ends are servers:           $two"
[ "$one" = "Rcvd Handle Value Notification, Handle: 0x000b (Unknown: Heart Rate Measurement)" ]
[ "$two" = "Rcvd Handle Value Notification, Handle: 0x000b (Unknown: PnP ID)[Malformed Packet]" ]
