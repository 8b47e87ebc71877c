"""A witness of C2SP tlog-witness v1.0.0, written apart from ours, that misbehaves as it is told.

quirk, of add-checkpoint:

    ""            cosigns what extends the last head
    down          503                          held        answers once `go` is set
    silent        never answers                wrong-key   a good line by another key
    bad-signature a flipped bit                extra-lines strangers' lines around its own
    twice         its line two times           more-text   signs the head and something more
    bare-409      409 without a body           text-409    409 with a text that is no size
    ahead         409 with a larger size       conflicts   409 with another size each time
    refuses       422 always                   pieces      the line in two pieces
    redirect      two 307 first                huge        a megabyte
    garbage       bytes that are no text
"""

import asyncio
import base64
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from hashlib import sha256

from aiohttp import web
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

AHEAD = 1_000_000
TEXT = "text/plain"
SIZE = "text/x.tlog.size"


def key_line(name: str, kind: int, private: Ed25519PrivateKey) -> tuple[bytes, str]:
    """Key id and vkey of C2SP signed-note."""
    typed = bytes([kind]) + private.public_key().public_bytes_raw()
    key_id = sha256(name.encode() + b"\n" + typed).digest()[:4]
    return key_id, f"{name}+{key_id.hex()}+{base64.b64encode(typed).decode()}"


def signed(name: str, key_id: bytes, blob: bytes) -> str:
    """One signature line."""
    return f"— {name} {base64.b64encode(key_id + blob).decode()}\n"


def signed_head(private: Ed25519PrivateKey, origin: str, size: int, root: bytes) -> bytes:
    """A checkpoint that a log's key signed."""
    text = f"{origin}\n{size}\n{base64.b64encode(root).decode()}\n"
    key_id, _ = key_line(origin, 1, private)
    return f"{text}\n{signed(origin, key_id, private.sign(text.encode()))}".encode()


def extends(old: int, old_root: bytes, new: int, root: bytes, proof: Sequence[bytes]) -> bool:
    """RFC 9162, 2.1.4.2: whether a consistency proof verifies."""
    if old in (0, new):
        return not proof and (old == 0 or old_root == root)
    path = [old_root, *proof] if old & (old - 1) == 0 else list(proof)
    first, second = old - 1, new - 1
    while first & 1:
        first, second = first >> 1, second >> 1
    left = right = path[0]
    for node in path[1:]:
        if second == 0:
            return False
        if first & 1 or first == second:
            left, right = (
                sha256(b"\1" + node + left).digest(),
                sha256(b"\1" + node + right).digest(),
            )
            while first and not first & 1:
                first, second = first >> 1, second >> 1
        else:
            right = sha256(b"\1" + right + node).digest()
        first, second = first >> 1, second >> 1
    return (left, right, second) == (old_root, root, 0)


@dataclass(frozen=True)
class Asked:
    """One request to cosign."""

    old: int
    size: int
    root: bytes
    proof: tuple[bytes, ...]
    text: str
    note: bytes


def read_request(body: bytes) -> Asked:
    """Takes a body apart."""
    head, _, note = body.partition(b"\n\n")
    first, *hashes = head.decode().split("\n")
    text = note.partition(b"\n\n")[0].decode() + "\n"
    _, size, root = text.split("\n")[:3]
    proof = tuple(base64.b64decode(line) for line in hashes)
    old = int(first.removeprefix("old "))
    return Asked(old, int(size), base64.b64decode(root), proof, text, note)


class FakeWitness:
    """One witness on a loopback port.

    Attributes:
        asked: requests, in order.
        shown: what its monitoring path shows; None for what it cosigned last, b"" for nothing.
        looked: set when somebody looks there; `may_look` must be set for the answer.
        held_size, held_root: the head that it cosigned last.
        lines: cosignatures that it gave.
    """

    def __init__(self, name: str) -> None:
        self.name = name
        self.private = Ed25519PrivateKey.generate()
        self.key_id, self.vkey = key_line(name, 4, self.private)
        self.quirk = ""
        self.asked: list[Asked] = []
        self.lines: list[str] = []
        self.shown: bytes | None = None
        self.paths: list[str] = []
        self.go, self.may_look, self.looked = asyncio.Event(), asyncio.Event(), asyncio.Event()
        self.may_look.set()
        self.held_size, self.held_root = 0, b""
        self.url = ""
        self._newest = b""

    def line(self, text: str, private: Ed25519PrivateKey | None = None) -> str:
        """A cosignature over a text: tlog-cosignature v1."""
        time_s = int(time.time())
        message = f"cosignature/v1\ntime {time_s}\n{text}".encode()
        key_id, _ = key_line(self.name, 4, private or self.private)
        signature = (private or self.private).sign(message)
        return signed(self.name, key_id, time_s.to_bytes(8, "big") + signature)

    async def add(self, request: web.Request) -> web.StreamResponse:
        """POST add-checkpoint."""
        hops = int(request.query.get("hops", "0"))
        if self.quirk == "redirect" and hops < 2:
            raise web.HTTPTemporaryRedirect(f"/add-checkpoint?hops={hops + 1}")
        asked = read_request(await request.read())
        self.asked.append(asked)
        refused = await self._refuse(asked)
        if refused is not None:
            return refused
        if asked.old != self.held_size:
            return web.Response(
                body=f"{self.held_size}\n".encode(), status=409, headers=_kind(SIZE)
            )
        if not extends(self.held_size, self.held_root, asked.size, asked.root, asked.proof):
            return web.Response(text="no extension\n", status=422)
        return await self._cosign(request, asked)

    async def _refuse(self, asked: Asked) -> web.Response | None:
        if self.quirk == "silent":
            await asyncio.Event().wait()
        if self.quirk == "held":
            await self.go.wait()
        if self.quirk.isdigit():
            return web.Response(text="no\n", status=int(self.quirk))
        match self.quirk:
            case "down":
                return web.Response(text="down\n", status=503)
            case "bare-409":
                return web.Response(status=409)
            case "text-409":
                return web.Response(text="a conflict\n", status=409)
            case "ahead" | "conflicts":
                size = asked.size + AHEAD if self.quirk == "ahead" else len(self.asked) % 3
                return web.Response(body=f"{size}\n".encode(), status=409, headers=_kind(SIZE))
            case "refuses":
                return web.Response(text="no extension\n", status=422)
            case "huge":
                return web.Response(text="— x AAAAAAAA\n" * 80_000)
            case "garbage":
                return web.Response(body=b"\xff\x00\xfe" * 50, headers=_kind(TEXT))
        return None

    async def _cosign(self, request: web.Request, asked: Asked) -> web.StreamResponse:
        line = self.line(asked.text)
        if self.quirk == "wrong-key":
            return web.Response(text=self.line(asked.text, Ed25519PrivateKey.generate()))
        if self.quirk == "bad-signature":
            blob = base64.b64decode(line.split(" ")[2])
            return web.Response(
                text=signed(self.name, blob[:4], blob[4:-1] + bytes([blob[-1] ^ 1]))
            )
        if self.quirk == "more-text":
            return web.Response(text="more\n\n" + self.line(asked.text + "\nmore\n"))
        self.held_size, self.held_root = asked.size, asked.root
        self.lines.append(line)
        self._newest = asked.note + line.encode()
        if self.quirk == "extra-lines":
            line = f"{_strange('a.example')}{line}{_strange(self.name)}"
        if self.quirk == "pieces":
            return await in_pieces(request, line.encode())
        return web.Response(text=line * 2 if self.quirk == "twice" else line)

    async def show(self, request: web.Request) -> web.StreamResponse:
        """GET <hash of the origin>/checkpoint."""
        self.paths.append(request.path)
        self.looked.set()
        await self.may_look.wait()
        if self.quirk == "down":
            return web.Response(status=503)
        if self.quirk == "silent":
            await asyncio.Event().wait()
        note = self._newest if self.shown is None else self.shown
        if not note:
            return web.Response(text="none\n", status=404)
        if self.quirk == "pieces":
            return await in_pieces(request, note)
        return web.Response(body=note, headers=_kind(TEXT))


def _kind(content_type: str) -> dict[str, str]:
    return {"Content-Type": content_type}


def _strange(name: str) -> str:
    return signed(name, b"\1\2\3\4", bytes(72))


async def in_pieces(request: web.Request, data: bytes) -> web.StreamResponse:
    """Sends the first half, and the other when the first has gone out."""
    answer = web.StreamResponse()
    await answer.prepare(request)
    await answer.write(data[: len(data) // 2])
    await asyncio.sleep(0.1)
    await answer.write(data[len(data) // 2 :])
    await answer.write_eof()
    return answer


@asynccontextmanager
async def serving(application: web.Application) -> AsyncIterator[str]:
    """Serves on a free loopback port; gives the URL."""
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.01)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0).start()
    try:
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


@asynccontextmanager
async def fake_witness(name: str) -> AsyncIterator[FakeWitness]:
    """A witness that answers."""
    witness = FakeWitness(name)
    application = web.Application()
    application.add_routes(
        [web.post("/add-checkpoint", witness.add), web.get("/{hash}/checkpoint", witness.show)]
    )
    async with serving(application) as url:
        witness.url = url
        yield witness
