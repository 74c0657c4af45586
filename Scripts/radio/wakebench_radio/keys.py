"""The keys of paired devices: in memory, and in one JSON file for each adapter where a folder is given.

FOLDER/00-AA-01-00-00-02.json, by the adapter's address, holds an object: by the peer's address, with "random" or
"public" behind a space, Bumble's own form of its keys (bumble 0.0.236, keys.py).
"""

import json
import logging
import os
import pathlib

from bumble import hci
from bumble.keys import KeyStore, PairingKeys

from .host import reason_of

log = logging.getLogger(__name__)

class KeysFailure(Exception):
    """A file of keys cannot be used: which one, and why."""


class Keys:
    """What `store` holds is what Bumble asks for; the rest is for the objects on the bus."""

    def __init__(self, folder=None):
        self.folder, self.file = folder, None
        self.store = Store(self)

    def open(self, address):
        """Reads the keys of one adapter, by its address."""
        if self.folder is None or self.file is not None:
            return
        self.file = pathlib.Path(self.folder) / f"{address.replace(':', '-')}.json"
        try:
            said = json.loads(self.file.read_text(encoding="utf-8")) if self.file.exists() else {}
            self.store.kept = {
                hci.Address(name.split()[0], TYPES[name.split()[1]]): PairingKeys.from_dict(keys)
                for name, keys in said.items()
            }
        except (OSError, ValueError, KeyError, IndexError, TypeError, AttributeError) as error:
            raise KeysFailure(
                f"{self.file}: no keys: {reason_of(error)}; name another folder, or remove it to pair anew"
            ) from error

    def save(self):
        """Writes the file anew, so that it is always whole; only its owner can read it."""
        if self.file is None:
            return
        said = {
            f"{each.to_string(False)} {WORDS[each.address_type & 1]}": keys.to_dict()
            for each, keys in self.store.kept.items()
        }
        part = self.file.with_suffix(".part")
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            with open(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w", encoding="utf-8") as text:
                json.dump(said, text, indent=4)
            os.replace(part, self.file)
        except OSError as error:
            # The bond holds as long as this runs.
            log.error("%s: cannot be written: %s; see --keys", self.file, error.strerror)

    def has(self, address):
        return plain(address) in self.store.kept

    def authenticated(self, address):
        """Whether the key of a peer was compared or entered by a user."""
        keys = self.store.kept.get(plain(address))
        known = [each for each in (keys.ltk, keys.ltk_central, keys.ltk_peripheral) if each] if keys else []
        return any(each.authenticated for each in known)

    def addresses(self):
        return list(self.store.kept)

    async def forget(self, address):
        if self.store.kept.pop(plain(address), None) is not None:
            self.save()


TYPES = {"public": hci.Address.PUBLIC_DEVICE_ADDRESS, "random": hci.Address.RANDOM_DEVICE_ADDRESS}
WORDS = {value: word for word, value in TYPES.items()}


def plain(address):
    """An address as a key: Bumble says of one that it resolved that it is an identity."""
    return hci.Address(bytes(address), hci.AddressType(address.address_type & 1))


class Store(KeyStore):
    """Bumble's way to the keys. It names a peer by its address with /P behind a public one."""

    def __init__(self, keys):
        self.keys, self.kept = keys, {}

    async def delete(self, name):
        del self.kept[plain(hci.Address(name))]
        self.keys.save()

    async def update(self, name, keys):
        # Not merged with old ones: what a peer no longer has must not be used.
        self.kept[plain(hci.Address(name))] = keys
        self.keys.save()

    async def get(self, name):
        return self.kept.get(plain(hci.Address(name)))

    async def get_all(self):
        return [(str(address), keys) for address, keys in self.kept.items()]
