"""Changes to the two texts among the files: signed notes and trust files."""

import json
import re
from collections.abc import Callable
from random import Random

from sealedshoe_audit.log.note import sign_note
from tests.audit.forge.log import key
from tests.differential.stories import WITNESSES, cosign

CHARACTERS = ("\n", " ", "+", "=", "A", "0", "é", "\u00a0", "\u2028", "\x00", "\x7f", "\t", "—", "\r\n")


def flipped(data: bytes, random: Random) -> bytes:
    """Returns data with one bit changed; a byte if there was none."""
    if not data:
        return b"\x00"
    n = random.randrange(len(data))
    return data[:n] + bytes([data[n] ^ 1 << random.randrange(8)]) + data[n + 1 :]


def changed(data: bytes, random: Random) -> bytes:
    """Returns data with a bit flipped, a piece cut out, doubled, moved or made up."""
    a, b = sorted(random.randrange(len(data) + 1) for _ in range(2))
    b = min(b, a + random.choice((1, 4, 40)))
    piece = data[a:b]
    return random.choice(
        (
            lambda: flipped(data, random),
            lambda: data[:a],
            lambda: data[:a] + data[b:],
            lambda: data[:b] + piece + data[b:],
            lambda: data[:a] + data[b:] + piece,
            lambda: data[:a] + random.randbytes(random.randrange(1, 40)) + data[b:],
            lambda: data[:a] + random.choice(CHARACTERS).encode() + data[a:],
            lambda: b"",
        )
    )()


def _signed_text(note: bytes, origin: str, number: int, change: Callable[[str], str]) -> bytes:
    """Changes the text and signs what came out; surrogates cannot occur."""
    text = note.decode().rpartition("\n\n")[0] + "\n"
    return sign_note(change(text), origin, key(number))


def another_text(note: bytes, origin: str, random: Random) -> bytes:
    """Returns a note whose changed text is signed by the checkpoint key, or by another."""
    changes: tuple[Callable[[str], str], ...] = (
        lambda t: t + "extension\n",
        lambda t: t + "\n",
        lambda t: re.sub(r"\n(\d+)\n", lambda m: f"\n0{m[1]}\n", t),
        lambda t: re.sub(r"\n(\d+)\n", lambda m: f"\n{int(m[1]) + random.choice((1, -1, 2**63, 2**64))}\n", t),
        lambda t: re.sub(r"\n(\d+)\n", lambda m: f"\n+{m[1]}\n", t),
        lambda t: re.sub(r"\n(\d+)\n", "\n0\n", t),
        lambda t: t.replace("=\n", "\n"),
        lambda t: t.replace(origin, origin + random.choice(("x", "é", " ", "+", "\u00a0"))),
        lambda t: re.sub(r"(.)=\n$", lambda m: f"{chr(ord(m[1]) ^ 1)}=\n", t),
        lambda t: t.replace("\n", "\r\n"),
        lambda t: t[:-1],
        lambda t: t,
    )
    return _signed_text(note, origin, random.choice((3, 3, 3, 4)), random.choice(changes))


def other_lines(note: bytes, origin: str, random: Random) -> bytes:
    """Returns a note with signature lines dropped, doubled, turned round, added or spoilt."""
    head, _, tail = note.decode().rpartition("\n\n")
    lines = tail.splitlines(keepends=True)
    n = random.randrange(len(lines))
    fresh = cosign(note, [random.choice(sorted(WITNESSES))], random.choice((0, 5, 2**63, 2**64 - 1)))
    stranger = sign_note(f"{head}\n", random.choice((origin, "stranger")), key(5)).decode()
    spoilt = changed(lines[n].encode(), random).decode("utf-8", "replace")
    choices: tuple[Callable[[], list[str]], ...] = (
        lambda: lines[:n] + lines[n + 1 :],
        lambda: [*lines, lines[n]],
        lambda: lines[::-1],
        lambda: [*lines, fresh.decode().splitlines(keepends=True)[-1]],
        lambda: [*lines, stranger.splitlines(keepends=True)[-1]],
        lambda: lines * random.choice((8, 16, 17, 200)),
        lambda: [*lines[:n], spoilt, *lines[n + 1 :]],
    )
    return f"{head}\n\n{''.join(random.choice(choices)())}".encode()


def another_note(note: bytes, origin: str, random: Random) -> bytes:
    """Returns a changed note."""
    way = random.random()
    if way < 0.4:
        return another_text(note, origin, random)
    return other_lines(note, origin, random) if way < 0.75 else changed(note, random)


def another_trust(data: bytes, random: Random) -> bytes:
    """Returns a changed trust file: other bytes, or other values in the one form."""
    if random.random() < 0.4:
        return changed(data, random)
    content = json.loads(data)
    _change_value(content, random)
    indent = random.choice((2, 2, 2, 2, 4, None))
    text = json.dumps(content, indent=indent, ensure_ascii=random.random() < 0.1)
    return (text + random.choice(("\n", "\n", "\n", "\n", "", "\n\n"))).encode()


def _change_value(content: dict[str, object], random: Random) -> None:
    name = random.choice(sorted(content))
    value = content[name]
    others: list[object] = [None, [], {}, "", 0, -1, 1.0, True, 2**64, "x", [1], [[]], "é" * 60]
    if isinstance(value, list) and value and random.random() < 0.7:
        items = list(value)
        n = random.randrange(len(items))
        spoilt = changed(str(items[n]).encode(), random).decode("utf-8", "replace")
        others = [items * 2, items[:n] + items[n + 1 :], items[::-1], [spoilt], [*items, spoilt]]
    if name == "quorum":
        others += [1, 2, 3]
    if name == "root_key" and random.random() < 0.5:
        others = [str(value).upper(), str(value)[:-2], "00" * 32, "01" + "00" * 31]
    if random.random() < 0.1:
        content[random.choice(("extra", "format ", "Format"))] = value
    elif random.random() < 0.1:
        del content[name]
    else:
        content[name] = random.choice(others)
