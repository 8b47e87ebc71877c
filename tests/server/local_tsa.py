"""A time stamp authority on the loopback interface: `openssl ts` behind HTTP, that misbehaves as told.

quirk:

    ""          stamps what it is asked       other    a stamp over another message
    down        503                           stranger another authority's stamp
    rejected    status 2, no token            revoked  status 2 around a good token
    flipped     a bit of the signature        pieces   a good stamp in two pieces
    garbage     bytes                         huge     a megabyte
    empty       nothing                       cut      a good stamp without its end
"""

import asyncio
from asyncio.subprocess import DEVNULL
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from hashlib import sha256
from pathlib import Path

from aiohttp import web

from tests.server.fake_witness import in_pieces, serving

REJECTED = bytes.fromhex("30053003020102")  # TimeStampResp of RFC 3161: status rejection, no token
_CONFIG = """
[tsa]
serial = {serial}
default_policy = 1.2.3.4.1
digests = sha256
accuracy = secs:1
ordering = no
tsa_name = no
ess_cert_id_alg = sha256
signer_digest = sha256
"""
_NAME = "/CN=Test {}"


async def openssl(*arguments: str | Path) -> None:
    """Runs it; it must succeed."""
    words = [str(word) for word in arguments]
    process = await asyncio.create_subprocess_exec(
        "openssl", *words, stdout=DEVNULL, stderr=DEVNULL
    )
    assert await process.wait() == 0, words


async def make_authority(folder: Path) -> None:
    """A root certificate, and a signer that may only stamp."""
    folder.mkdir()
    key = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes")
    root, signer = folder / "root.pem", folder / "signer.pem"
    await openssl(
        *("req", "-x509", *key, "-subj", _NAME.format("Root"), "-days", "3650"),
        *("-keyout", folder / "root.key", "-out", root),
        *("-addext", "keyUsage=critical,keyCertSign"),
    )
    await openssl(
        *("req", "-x509", "-CA", root, "-CAkey", folder / "root.key", *key, "-days", "3650"),
        *("-subj", _NAME.format("Signer"), "-keyout", folder / "signer.key", "-out", signer),
        *("-addext", "basicConstraints=critical,CA:FALSE"),
        *("-addext", "keyUsage=critical,digitalSignature"),
        *("-addext", "extendedKeyUsage=critical,timeStamping"),
    )
    (folder / "conf").write_text(_CONFIG.format(serial=folder / "serial"), "ascii")


async def make_authorities(folder: Path) -> Path:
    """Two authorities of the same names; returns the folder."""
    for name in ("own", "stranger"):
        await make_authority(folder / name)
    return folder


class LocalTsa:
    """One authority, and a stranger that looks like it.

    Attributes:
        asked: requests, in order; `given`: the good answers.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.quirk = ""
        self.url = ""
        self.asked: list[bytes] = []
        self.given: list[bytes] = []

    @property
    def root(self) -> Path:
        """The certificate to trust."""
        return self.folder / "own/root.pem"

    @property
    def stranger(self) -> Path:
        """The certificate of the other authority."""
        return self.folder / "stranger/root.pem"

    async def stamp(self, query: bytes, authority: str = "own") -> bytes:
        """A response to a query."""
        folder, number = self.folder / authority, len(self.asked)
        asked, made = folder / f"{number}.tsq", folder / f"{number}.tsr"
        asked.write_bytes(query)
        await openssl(
            *("ts", "-reply", "-config", folder / "conf", "-section", "tsa", "-queryfile", asked),
            *("-signer", folder / "signer.pem", "-inkey", folder / "signer.key"),
            *("-out", made),
        )
        return made.read_bytes()

    async def answer(self, request: web.Request) -> web.StreamResponse:
        """POST of a query."""
        assert request.headers["Content-Type"] == "application/timestamp-query"
        query = await request.read()
        self.asked.append(query)
        if self.quirk == "down":
            return web.Response(status=503)
        if self.quirk == "pieces":
            return await in_pieces(request, await self.stamp(query))
        body = await self._body(query)
        return web.Response(body=body, headers={"Content-Type": "application/timestamp-reply"})

    async def _body(self, query: bytes) -> bytes:
        match self.quirk:
            case "rejected":
                return REJECTED
            case "garbage":
                return sha256(query).digest() * 40
            case "huge":
                return bytes(1_000_000)
            case "empty":
                return b""
            case "stranger":
                return await self.stamp(query, "stranger")
            case "other":
                at = query.index(b"\x04\x20") + 2
                return await self.stamp(query[:at] + bytes(32) + query[at + 32 :])
        good = await self.stamp(query)
        match self.quirk:
            case "revoked":
                granted = bytes.fromhex("3003020100")
                assert granted in good[:12]
                return good.replace(granted, bytes.fromhex("3003020102"), 1)
            case "flipped":
                return good[:-1] + bytes([good[-1] ^ 1])
            case "cut":
                return good[:-9]
        self.given.append(good)
        return good


@asynccontextmanager
async def local_tsa(folder: Path, certificates: Path) -> AsyncIterator[LocalTsa]:
    """An authority that answers.

    Args:
        certificates: as `make_authorities` makes it.
    """
    tsa = LocalTsa(folder)
    folder.mkdir()
    for name in ("own", "stranger"):
        (folder / name).mkdir()
        for file in (certificates / name).iterdir():
            (folder / name / file.name).write_bytes(file.read_bytes())
        (folder / name / "conf").write_text(
            _CONFIG.format(serial=folder / name / "serial"), "ascii"
        )
    application = web.Application()
    application.add_routes([web.post("/", tsa.answer)])
    async with serving(application) as url:
        tsa.url = f"{url}/"
        yield tsa
