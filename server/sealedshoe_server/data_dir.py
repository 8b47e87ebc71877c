"""The data directory: one server at a time, keys made once, the log started once.

lock          held while a server runs
log.db        the log and its indexes
keys/         key files, mode 0600
trust.json    what verifiers need; public
vkey          the log's verifier key, one line; public
server.json   where the running server listens, for the command line
"""

import fcntl
import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import IO

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.keeping.files import sync_directory, write_file
from sealedshoe_audit.records import VERSION, log_start_message
from sealedshoe_audit.signing import public_bytes
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.keys import Keys, load_keys, load_signing_key, make_keys


class DataDirError(Exception):
    """The directory cannot be used as it is; the text says what to do."""


class DataDir:
    """Paths and the lock of one data directory."""

    def __init__(self, root: Path) -> None:
        """Names the directory; nothing is touched yet."""
        self.root = root
        self.log = root / "log.db"
        self.keys = root / "keys"
        self._lock_file: IO[str] | None = None

    def lock(self) -> None:
        """Makes the directory and takes it for this process.

        Raises:
            DataDirError: it cannot be written, or another server has it.
        """
        try:
            self.root.mkdir(mode=0o700, parents=True, exist_ok=True)
            file = (self.root / "lock").open("a+", encoding="ascii")
        except OSError as error:
            raise DataDirError(f"{self.root}: {error.strerror}") from error
        try:
            fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError as error:
            file.close()
            raise DataDirError(f"{self.root}: another server runs on this directory") from error
        self._lock_file = file

    def unlock(self) -> None:
        """Gives the directory up."""
        if self._lock_file is not None:
            self._lock_file.close()
            self._lock_file = None

    def load_or_make_keys(self, log_is_new: bool, random_bytes: Callable[[int], bytes]) -> Keys:
        """Returns the keys; makes them with a new log, and only then.

        Raises:
            KeyFileError: a log without its keys, or key files that must not be used.
        """
        if not self.keys.exists() and log_is_new:
            fresh = self.root / "keys.new"
            for left_over in fresh.glob("*"):
                left_over.unlink()
            make_keys(fresh, random_bytes)
            fresh.rename(self.keys)
            sync_directory(self.root)
        return self.load_keys()

    def load_keys(self) -> Keys:
        """Returns the keys.

        Raises:
            KeyFileError: key files that must not be used.
        """
        return load_keys(self.keys)

    def root_key(self) -> Ed25519PrivateKey:
        """Returns the root key, needed to start a log; afterwards it belongs offline."""
        return load_signing_key(self.keys / "root.pem")

    def refuse_keys_without_log(self) -> None:
        """Refuses to start a second log under old keys: a lost log.db is never replaced silently.

        Raises:
            DataDirError: keys are there, the log is not.
        """
        pieces = (self.log, self.log.with_name(f"{self.log.name}-wal"))
        if self.keys.exists() and not any(p.exists() and p.stat().st_size for p in pieces):
            raise DataDirError(
                f"{self.log} is missing or empty, but its keys are there: starting a new log under old keys "
                "would fork it. Restore the log, or use an empty directory"
            )

    def publish_trust(self, trust: Trust) -> None:
        """Writes trust.json and vkey; the newest checkpoint key is the one to show."""
        write_file(self.root / "trust.json", trust.text().encode())
        write_file(self.root / "vkey", f"{trust.checkpoint_keys[-1].text()}\n".encode())

    def announce(self, addresses: dict[str, str]) -> None:
        """Writes server.json: where this process listens."""
        text = json.dumps(addresses | {"pid": str(os.getpid())})
        write_file(self.root / "server.json", f"{text}\n".encode())

    def withdraw(self) -> None:
        """Removes server.json."""
        (self.root / "server.json").unlink(missing_ok=True)


def running_server(root: Path) -> dict[str, str]:
    """Returns the addresses of the server that runs on a data directory.

    Raises:
        DataDirError: none does.
    """
    try:
        addresses: dict[str, str] = json.loads((root / "server.json").read_text("utf-8"))
        os.kill(int(addresses["pid"]), 0)
    except (OSError, ValueError, KeyError) as error:
        raise DataDirError(f"{root}: no server runs on this directory") from error
    return addresses


def start_record(
    origin: str,
    keys: Keys,
    root_key: Ed25519PrivateKey,
    manifest: bytes,
    now_us: int,
    predecessor: pb.Predecessor | None = None,
) -> pb.LogStarted:
    """Returns the first record of a log."""
    record = pb.LogStarted(
        header=pb.Header(version=VERSION, origin=origin, time_us=now_us),
        root_key=public_bytes(root_key),
        statement_key=public_bytes(keys.statement),
        checkpoint_key=public_bytes(keys.checkpoint),
        software_manifest=manifest,
        predecessor=predecessor,
    )
    record.root_signature = root_key.sign(log_start_message(record))
    return record
