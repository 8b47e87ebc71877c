"""A disk that can be watched and told to fail: it stands between this process and its files and SQLite.

Every step that may leave something behind has a name: "INSERT entries", "COMMIT", "guard pwrite", "heads
write", "trust.json rename". A watcher hears of each before and after; a fault strikes one of them:

    lost      the step is not taken, and fails
    applied   the step is taken, and fails
    torn      half of a write is taken, and it fails
    short     half of a write is taken, and it says so, without failing
"""

import contextlib
import errno
import io
import os
import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from threading import Lock
from typing import Any
from weakref import WeakSet

import pytest

Watch = Callable[[str, str], None]
_STATEMENT = re.compile(r"(BEGIN|COMMIT|ROLLBACK|(?:INSERT|UPDATE|DELETE|SELECT)\b)")
_TABLE = re.compile(r"(?:INTO|UPDATE|FROM) (\w+)")


@dataclass(frozen=True)
class Fault:
    """What happens at the n-th step of a name, from 1; and at all after it when it lasts."""

    step: str
    how: str = "lost"
    code: int = errno.EIO
    nth: int = 1
    lasts: bool = False

    def error(self) -> Exception:
        """As the system or SQLite says it."""
        if self.step.split()[0].isupper():
            full = self.code == errno.ENOSPC
            return sqlite3.OperationalError(
                "database or disk is full" if full else "disk I/O error"
            )
        return OSError(self.code, os.strerror(self.code))


class Disk:
    """What a process under test writes to.

    Attributes:
        watch: told of each step, "before" and "after" it.
        struck: how often the fault struck.
        full: databases opened from now on may not grow by a page.
    """

    def __init__(self, root: Path) -> None:
        self.root = root
        self.watch: Watch = lambda _name, _when: None
        self.fault: Fault | None = None
        self.struck = 0
        self.full = False
        self._connections: WeakSet[sqlite3.Connection] = WeakSet()
        self._seen = 0
        self._lock = Lock()

    def fails(self, fault: Fault | None) -> None:
        """Arms a fault, or mends the disk."""
        self.fault, self._seen, self.struck = fault, 0, 0

    def step(self, name: str, take: Callable[[], Any], half: Callable[[], Any] = lambda: 0) -> Any:
        """Takes a step, or fails it."""
        self.watch(name, "before")
        fault = self._striking(name)
        if fault is not None and fault.how == "short":
            return half()
        if fault is not None and fault.how == "torn":
            half()
        if fault is None or fault.how == "applied":
            taken = take()
        if fault is not None:
            raise fault.error()
        self.watch(name, "after")
        return taken

    def _striking(self, name: str) -> Fault | None:
        with self._lock:
            if self.fault is None or self.fault.step != name:
                return None
            self._seen += 1
            late = self._seen > self.fault.nth and not self.fault.lasts
            if late or self._seen < self.fault.nth:
                return None
            self.struck += 1
            return self.fault

    def fill(self) -> None:
        """Databases may not grow by a page from now on, also those that are open; SQLite's own doing."""
        self.full = True
        for connection in list(self._connections):
            with contextlib.suppress(sqlite3.ProgrammingError):  # it is closed already
                connection.execute("PRAGMA max_page_count = 1")

    def opened(self, connection: sqlite3.Connection) -> None:
        """Takes note of a connection."""
        self._connections.add(connection)
        if self.full:
            connection.execute("PRAGMA max_page_count = 1")

    def holds(self, path: str) -> bool:
        """Whether a path is on this disk."""
        return Path(path).is_absolute() and Path(path).is_relative_to(self.root)


def piece(path: str) -> str:
    """A file's part in the whole: its name without what differs from test to test."""
    name = path.removesuffix(".new")
    found = re.search(r"tile/entries/|tile/\d+/|\.guard$|\.heads$", name)
    if found is None:
        return Path(name).name
    kinds = {"tile/entries/": "bundle", ".guard": "guard", ".heads": "heads"}
    return kinds.get(found[0], "tile")


def statement(sql: str) -> str:
    """A statement's name: verb and table; "" for those that neither read nor write a table."""
    verb = _STATEMENT.match(sql)
    table = _TABLE.search(sql)
    if verb is None:
        return ""
    return verb[1] if table is None or verb[1] == "BEGIN" else f"{verb[1]} {table[1]}"


def path_of(descriptor: int) -> str:
    """Where an open file lies."""
    return os.readlink(f"/proc/self/fd/{descriptor}")


class _File(io.FileIO):
    """A file on a disk."""

    disk: Disk

    def write(self, data: Any) -> int:
        """Half of it goes through when the write is torn."""
        half = bytes(data)[: len(data) // 2]
        name = f"{piece(path_of(self.fileno()))} write"
        whole = partial(super().write, data)
        written: int = self.disk.step(name, whole, partial(super().write, half))
        return written


@contextmanager
def disk_at(root: Path) -> Iterator[Disk]:
    """Puts a disk between this process and the files below a directory."""
    disk = Disk(root)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sqlite3, "connect", partial(sqlite3.connect, factory=_connection(disk)))
        patch.setattr(io, "open", partial(_open, disk, io.open))
        for name in ("fsync", "fdatasync"):
            patch.setattr(os, name, partial(_sync, disk, name, getattr(os, name)))
        for name in ("rename", "unlink", "truncate"):
            patch.setattr(os, name, partial(_path_call, disk, name, getattr(os, name)))
        patch.setattr(os, "pwrite", partial(_pwrite, disk, os.pwrite))
        yield disk


def _connection(disk: Disk) -> type[sqlite3.Connection]:
    class Connection(sqlite3.Connection):
        """Every statement is a step."""

        def __init__(self, *given: Any, **named: Any) -> None:
            super().__init__(*given, **named)
            disk.opened(self)

        def execute(self, sql: str, *values: Any) -> sqlite3.Cursor:
            name = statement(sql)
            take = partial(super().execute, sql, *values)
            done: sqlite3.Cursor = disk.step(name, take) if name else take()
            return done

        def executescript(self, sql: str) -> sqlite3.Cursor:
            done: sqlite3.Cursor = disk.step("SCHEMA", partial(super().executescript, sql))
            return done

    return Connection


def _open(disk: Disk, real: Any, file: Any, mode: str = "r", *rest: Any, **named: Any) -> Any:
    if not set(mode) & set("wax"):
        return real(file, mode, *rest, **named)
    path = path_of(file) if isinstance(file, int) else os.fspath(file)
    if not disk.holds(path) or path.endswith("/lock"):
        return real(file, mode, *rest, **named)
    raw = _File(file, mode.replace("b", ""))
    raw.disk = disk
    buffered = io.BufferedWriter(raw)
    return buffered if "b" in mode else io.TextIOWrapper(buffered, encoding="utf-8")


def _sync(disk: Disk, name: str, real: Any, descriptor: int) -> None:
    path = path_of(descriptor)
    if not disk.holds(path):
        real(descriptor)
        return
    what = "directory" if Path(path).is_dir() else piece(path)
    disk.step(f"{what} {name}", partial(real, descriptor))


def _path_call(disk: Disk, name: str, real: Any, path: Any, *rest: Any, **named: Any) -> None:
    take = partial(real, path, *rest, **named)
    if isinstance(path, int) or not disk.holds(os.fspath(path)):
        take()
    else:
        disk.step(f"{piece(os.fspath(path))} {name}", take)


def _pwrite(disk: Disk, real: Any, descriptor: int, data: bytes, offset: int) -> Any:
    name = f"{piece(path_of(descriptor))} pwrite"
    take, half = partial(real, descriptor, data, offset), data[: len(data) // 2]
    return disk.step(name, take, partial(real, descriptor, half, offset))
