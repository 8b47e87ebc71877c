"""Guard files, made and read here from their description: two slots, each with counter, state and digest."""

from base64 import b64decode, b64encode
from collections.abc import Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path

SLOT = 1024
ORIGIN = "localhost/sealedshoe"


def head_text(size: int, root: bytes = b"r" * 32, origin: str = ORIGIN) -> str:
    """A checkpoint's text."""
    return f"{origin}\n{size}\n{b64encode(root).decode()}\n"


def slot(
    counter: object, text: str, state: str = "open", form: str = "sealedshoe/v1/guard"
) -> bytes:
    """One slot: lines, zero bytes, SHA-256 of all before it."""
    body = f"{form}\n{counter}\n{state}\n{text}".encode()
    padded = body + bytes(SLOT - 32 - len(body))
    return padded + sha256(padded).digest()


def guard_file(even: bytes, odd: bytes) -> bytes:
    """A file: first the slot of even counters, then that of odd ones."""
    return even + odd


def guarded(path: Path) -> tuple[str, int, bytes]:
    """State, size and root that a sound guard holds."""
    data = path.read_bytes()
    found: list[tuple[int, str, int, bytes]] = []
    for part in (data[:SLOT], data[SLOT:]):
        if len(part) == SLOT and sha256(part[:-32]).digest() == part[-32:]:
            _, counter, state, _, size, root = part[:-32].rstrip(b"\0").decode().split("\n")[:6]
            found.append((int(counter), state, int(size), b64decode(root)))
    return max(found)[1:]


@contextmanager
def unwritable(path: Path) -> Iterator[None]:
    """A directory stands where the file was: whoever opens it fails, also with a superuser's rights."""
    aside = path.with_name(f"{path.name}.aside")
    path.rename(aside)
    path.mkdir()
    try:
        yield
    finally:
        path.rmdir()
        aside.rename(path)
