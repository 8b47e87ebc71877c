"""Where a log's files come from: a directory, or an HTTP prefix."""

import urllib.error
import urllib.request
from pathlib import Path

from sealedshoe_audit.log.reader import LogSource
from sealedshoe_audit.trust import Trust, parse_trust

MAX_FILE_BYTES = 256 * (2 + 65_535)  # the largest entry bundle that the format allows
TIMEOUT_S = 30.0


class Unreadable(Exception):
    """The log cannot be reached: a usage error, not a verdict."""


class DirectorySource:
    """A log exported as files."""

    def __init__(self, root: Path) -> None:
        """Reads below `root`."""
        self._root = root

    def read(self, path: str) -> bytes | None:
        """Returns a file's bytes, or None when there is no such file."""
        try:
            return (self._root / path).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise Unreadable(f"{self._root / path}: {error.strerror}") from error


class HttpSource:
    """A log served under a URL prefix."""

    def __init__(self, prefix: str) -> None:
        """Reads below `prefix`, with or without a final slash."""
        self._prefix = prefix.rstrip("/")

    def read(self, path: str) -> bytes | None:
        """Returns a resource's bytes, or None when the server has none."""
        url = f"{self._prefix}/{path}"
        try:
            with urllib.request.urlopen(url, timeout=TIMEOUT_S) as response:
                data: bytes = response.read(MAX_FILE_BYTES + 1)
        except urllib.error.HTTPError as error:
            if error.code == 404:
                return None
            raise Unreadable(f"{url}: HTTP status {error.code}") from error
        except OSError as error:
            raise Unreadable(f"{url}: {error}") from error
        if len(data) > MAX_FILE_BYTES:
            raise Unreadable(f"{url}: larger than any file of a log")
        return data


def open_source(where: str) -> LogSource:
    """Returns the source that a command line argument names.

    Raises:
        Unreadable: neither a directory nor an http(s) URL.
    """
    if where.startswith(("http://", "https://")):
        return HttpSource(where)
    root = Path(where)
    if not root.is_dir():
        raise Unreadable(f"{where}: no such directory")
    return DirectorySource(root)


def read_input(path: str) -> bytes:
    """Returns a file's bytes.

    Raises:
        Unreadable: it cannot be read.
    """
    try:
        return Path(path).read_bytes()
    except OSError as error:
        raise Unreadable(f"{path}: {error.strerror}") from error


def read_trust(path: str) -> Trust:
    """Returns a trust file.

    Raises:
        Unreadable: it cannot be read.
        VerificationError: TRUST.
    """
    return parse_trust(read_input(path))
