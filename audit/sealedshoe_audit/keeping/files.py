"""Files of a mirror, each written whole: beside it, synced, renamed."""

import os
from pathlib import Path


def write_file(path: Path, data: bytes) -> None:
    """Replaces a file; durable once it returns.

    Raises:
        OSError: it could not; the old file stands.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    fresh = path.with_name(f"{path.name}.new")
    with fresh.open("wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
    fresh.rename(path)
    sync_directory(path.parent)


def sync_directory(directory: Path) -> None:
    """Makes a directory's entries durable."""
    descriptor = os.open(directory, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
