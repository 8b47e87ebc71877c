"""The cosigner by itself: what a store that fails to read, or very many witnesses, make of it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import aiohttp
import pytest
from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

from sealedshoe_audit.log.checkpoint import Checkpoint
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.policy import Policy, parse_policy
from sealedshoe_server.config import ConfigError
from sealedshoe_server.cosigning import Cosigner
from sealedshoe_server.metrics import Metrics
from sealedshoe_server.outside import read_policy
from sealedshoe_server.storage.interface import CommittedHead, StorageFailed
from tests.server.fake_witness import FakeWitness, fake_witness, signed_head
from tests.server.reading import leaf, root_of
from tests.server.watched import eventually, policy_lines

ORIGIN = "log.example/cosigner"
LOG_KEY = Ed25519PrivateKey.from_private_bytes(bytes(range(32)))
LEAVES = [leaf(bytes([number])) for number in range(8)]


class FlakyStore:
    """A log of up to eight leaves whose next reads may fail.

    Attributes:
        failures: {method: how many of its next calls fail}.
    """

    def __init__(self) -> None:
        self.size = 5
        self.failures: dict[str, int] = {}

    def _read(self, method: str) -> None:
        left = self.failures.get(method, 0)
        self.failures[method] = max(0, left - 1)
        if left:
            raise StorageFailed("read: disk I/O error")

    def newest_cosigned(self) -> None:
        """Nothing was."""

    def head(self) -> CommittedHead:
        """The newest head."""
        self._read("head")
        return committed(self.size)

    def root_at(self, size: int) -> bytes:
        """Of the first leaves."""
        self._read("root_at")
        return root_of(LEAVES[:size])

    def head_covering(self, _: int) -> CommittedHead:
        """One head covers all."""
        self._read("head_covering")
        return committed(self.size)

    def complete_hash(self, level: int, index: int) -> bytes:
        """Of a complete subtree."""
        self._read("complete_hash")
        return root_of(LEAVES[index << level : (index + 1) << level])


def committed(size: int) -> CommittedHead:
    """The head of that size."""
    head = Checkpoint(ORIGIN, size, root_of(LEAVES[:size]))
    return CommittedHead(head=head, text=head.text(), time_us=1)


class FakeWriter:
    """Releases heads."""

    def __init__(self) -> None:
        self.changed = asyncio.Event()
        self.published: Any = None

    def release(self, store: FlakyStore, size: int) -> None:
        """Makes a head the newest."""
        store.size = size
        note = signed_head(LOG_KEY, ORIGIN, size, root_of(LEAVES[:size]))
        self.published = SimpleNamespace(head=committed(size), note=note)
        self.changed.set()
        self.changed = asyncio.Event()


def cosigner(policy: Policy, store: Any, writer: Any) -> Cosigner:
    """A cosigner with a patience of five seconds."""
    return Cosigner(ORIGIN, policy, store, writer, Metrics(), lambda: 1, 5.0, 60.0)


@pytest.fixture
async def witness() -> AsyncIterator[FakeWitness]:
    """A witness on a loopback port."""
    async with fake_witness("w.example/0") as made:
        yield made


@pytest.mark.parametrize("method", ["head_covering", "complete_hash"])
async def test_a_read_that_fails_once_does_not_end_cosigning(
    witness: FakeWitness, method: str
) -> None:
    """Else no head is ever cosigned again by this process, and nobody is told why."""
    store, writer = FlakyStore(), FakeWriter()
    writer.release(store, 5)
    policy = parse_policy(policy_lines([witness], "quorum w0").encode())
    made = cosigner(policy, store, writer)
    async with aiohttp.ClientSession() as http:
        made.connect(http)
        task = asyncio.create_task(made.run())
        await eventually(lambda: made.newest.size == 5)
        store.failures[method] = 1
        writer.release(store, 7)
        await eventually(lambda: made.newest.size == 7 or task.done())
        ended = task.done()
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await made.stop()
    assert not ended
    assert made.newest.size == 7


async def test_a_quorum_as_large_as_a_note_can_hold_is_met() -> None:
    """Fifteen witnesses and the log itself: sixteen signatures, which every verifier must take."""
    store, writer = FlakyStore(), FakeWriter()
    writer.release(store, 5)
    async with AsyncExitStack() as stack:
        witnesses = [
            await stack.enter_async_context(fake_witness(f"w.example/{i}")) for i in range(15)
        ]
        names = " ".join(f"w{i}" for i in range(15))
        rule = f"group q all {names}\nquorum q"
        policy = parse_policy(policy_lines(witnesses, rule).encode())
        made = cosigner(policy, store, writer)
        http = await stack.enter_async_context(aiohttp.ClientSession())
        made.connect(http)
        task = asyncio.create_task(made.run())
        await eventually(lambda: made.newest.size == 5)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
        await made.stop()
    assert len(parse_note(made.newest.note).signatures) == 16


def test_a_quorum_that_no_note_can_hold_is_refused(tmp_path: Path) -> None:
    """A checkpoint with seventeen signatures is one that our own verifiers refuse."""
    witnesses = [FakeWitness(f"w.example/{i}") for i in range(16)]
    for witness in witnesses:
        witness.url = "http://127.0.0.1:1"
    names = " ".join(f"w{i}" for i in range(16))
    policy = tmp_path / "policy"
    policy.write_text(policy_lines(witnesses, f"group q all {names}\nquorum q"), "utf-8")
    with pytest.raises(ConfigError, match=r"witness_policy.*15 cosignatures"):
        read_policy(str(policy))
