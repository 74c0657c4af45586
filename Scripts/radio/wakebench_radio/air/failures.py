"""Errors that end in one line on standard error and an exit code of `wakebench exit-codes`."""

USAGE, NOT_FOUND, INVALID, LACKING = 2, 3, 11, 12


class Failure(Exception):
    """What went wrong, where, and what to do, in one line."""

    code = 1

    def __str__(self):
        return " ".join(str(self.args[0]).split()) if self.args else type(self).__name__


class UsageError(Failure):
    """Words of the command line that do not fit the device."""

    code = USAGE


class NoFile(Failure):
    """A file that cannot be read."""

    code = NOT_FOUND


class FileError(Failure):
    """A device file that cannot be used: `file:line: what was found; expected what would be right`."""

    code = INVALID

    def __init__(self, place, found, expected):
        super().__init__(f"{place}: {found}; expected {expected}")


class TransportError(Failure):
    """A transport that cannot be opened, does not answer or is lost."""

    code = LACKING


class Refused(Failure):
    """An order that is not carried out, for a reason."""
