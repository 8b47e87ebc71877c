"""Entropy sources: the operating system's, and devices configured beside it."""

import os
from pathlib import Path
from typing import Protocol


class EntropySource(Protocol):
    """Something that gives fresh random bytes, or raises OSError."""

    @property
    def name(self) -> str:
        """Names the source in reports."""
        ...

    def read(self, size_bytes: int) -> bytes:
        """Returns exactly so many bytes."""
        ...


class OsSource:
    """getrandom(2): blocks until the kernel's generator is seeded."""

    name = "getrandom"

    def read(self, size_bytes: int) -> bytes:
        """Returns exactly so many bytes; the kernel may return fewer at a time."""
        data = os.getrandom(size_bytes)
        while len(data) < size_bytes:
            data += os.getrandom(size_bytes - len(data))
        return data


class DeviceSource:
    """A hardware generator behind a character device, such as /dev/hwrng."""

    def __init__(self, path: Path) -> None:
        """Names the device; it is opened at each read, so that unplugging it is noticed."""
        self._path = path
        self.name = str(path)

    def read(self, size_bytes: int) -> bytes:
        """Returns exactly so many bytes.

        Raises:
            OSError: the device is gone, or gave too few.
        """
        with self._path.open("rb", buffering=0) as device:
            data = b""
            while len(data) < size_bytes:
                piece = device.read(size_bytes - len(data))
                if not piece:
                    raise OSError(f"{self.name} ended after {len(data)} bytes")
                data += piece
            return data
