"""Servers whose heads are cosigned by fake witnesses, and what a test waits for."""

import asyncio
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.conftest import Start, servers_in
from tests.server.fake_witness import FakeWitness, fake_witness, signed_head
from tests.server.reading import leaf, root_of, stored_entries
from tests.server.running import Running

LONG, SHORT = "shoe-6d", "punto-banco-6d"
PATIENCE, PAUSE_S = 1200, 0.02


async def eventually(check: Callable[[], bool]) -> None:
    """Waits until a state is reached; gives up after a long while."""
    for _ in range(PATIENCE):
        if check():
            return
        await asyncio.sleep(PAUSE_S)
    raise AssertionError("the state was never reached")


async def until_cosigned(server: Running) -> int:
    """Waits until every record is under a quorum; returns that size."""
    for _ in range(PATIENCE):
        status = await server.operator.GetStatus(pb_op.GetStatusRequest(), timeout=10)
        if status.cosigned_size == status.log_size:
            return status.log_size
        await asyncio.sleep(PAUSE_S)
    raise AssertionError("the log was never cosigned whole")


async def answers(server: Running) -> dict[tuple[str, str], int]:
    """The metric of witnesses' answers: {(witness, result): count}."""
    _, _, page = await server.http("/metrics")
    found: dict[tuple[str, str], int] = {}
    for line in page.decode().splitlines():
        if line.startswith("sealedshoe_witness_answers_total{"):
            labels, value = line.rsplit(" ", 1)
            _, result, _, witness, _ = labels.split('"')
            found[witness, result] = int(float(value))
    return found


async def until_answered(server: Running, witness: str, result: str) -> None:
    """Waits until a witness has given such an answer."""
    for _ in range(PATIENCE):
        if (witness, result) in await answers(server):
            return
        await asyncio.sleep(PAUSE_S)
    raise AssertionError(f"{witness} never gave {result}")


def forged(data_dir: Path, size: int, root: bytes) -> bytes:
    """A head under the server's own checkpoint key."""
    key = load_pem_private_key((data_dir / "keys/checkpoint.pem").read_bytes(), None)
    assert isinstance(key, Ed25519PrivateKey)
    return signed_head(key, origin_of(data_dir), size, root)


def origin_of(data_dir: Path) -> str:
    """The name in the log's verifier key."""
    return (data_dir / "vkey").read_text("utf-8").split("+")[0]


def true_root(data_dir: Path, size: int) -> bytes:
    """The root of the first leaves of the stored log."""
    return root_of([leaf(entry) for entry in stored_entries(data_dir)[:size]])


def policy_lines(witnesses: Sequence[FakeWitness], rule: str) -> str:
    """A policy file: w0, w1, ... and then the rule."""
    lines = [f"witness w{i} {w.vkey} {w.url}\n" for i, w in enumerate(witnesses)]
    return "".join([*lines, rule, "\n"])


@dataclass
class Watched:
    """Witnesses, and a way to start servers under them."""

    witnesses: list[FakeWitness]
    directory: Path
    plain: Start

    async def start(
        self, rule: str = "quorum w0", *, witnesses: Sequence[FakeWitness] = (), **settings: Any
    ) -> Running:
        """Starts a server under a policy."""
        given = witnesses or self.witnesses
        policy = self.directory / f"policy-{'-'.join(w.name.split('/')[1] for w in given)}"
        policy.write_text(policy_lines(given, rule), "utf-8")
        chosen = {"witness_policy": str(policy), "witness_timeout_s": 1.0, **settings}
        return await self.plain(**chosen)

    async def open(
        self, game: str = SHORT, rule: str = "quorum w0", *, cosigned: bool = True, **settings: Any
    ) -> Running:
        """Starts a server with one table "t", and waits until all of that is cosigned."""
        server = await self.start(rule, **settings)
        await server.install(game)
        await server.open_table(game=game)
        if cosigned:
            await until_cosigned(server)
        return server


@asynccontextmanager
async def watched_in(directory: Path, count: int) -> AsyncIterator[Watched]:
    """Witnesses that outlive the servers: at the end all are well, and every log is audited."""
    async with AsyncExitStack() as stack:
        witnesses = [
            await stack.enter_async_context(fake_witness(f"w.example/{i}")) for i in range(count)
        ]
        async with servers_in(directory) as start:
            yield Watched(witnesses, directory, start)
