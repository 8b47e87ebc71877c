"""Torn, flipped and missing bytes in every file of a server, and in every table of its database.

Each row says who finds it: the start refuses; a call refuses; the full verification of the log refuses;
nobody needs it, as it is made anew; or the copies that front-ends hold no longer agree with the answer.
"""

import gc
import sqlite3
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

import grpc
from google.protobuf.message import DecodeError

from sealedshoe_server.data_dir import DataDirError
from sealedshoe_server.errors import GameError
from sealedshoe_server.keys import KeyFileError
from sealedshoe_server.storage.interface import StorageFailed, StoreRefused
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.faults.images import Base, abandon, put_image, started, take_image
from tests.faults.load import Ledger, check_heads, play
from tests.server.reading import audit_log
from tests.server.refusals import read_refusal
from tests.server.running import Running

Damage = Callable[[Path], None]


def torn(path: Path) -> None:
    """The second half is gone."""
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])


def flipped(path: Path, at: int | None = None) -> None:
    """One bit is another, in the middle unless told otherwise."""
    data = bytearray(path.read_bytes())
    data[len(data) // 2 if at is None else at] ^= 1
    path.write_bytes(data)


def other_digit(path: Path) -> None:
    """One digit in the middle is another: hex and base64 have both 0 and 1."""
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle] = ord("0") if data[middle] == ord("1") else ord("1")
    path.write_bytes(data)


def flipped_in_both_slots(path: Path) -> None:
    """One bit in each of a guard's slots."""
    flipped(path, 30)
    flipped(path, 1024 + 30)


def torn_in_the_first_slot(path: Path) -> None:
    """Not one whole slot of a guard is left."""
    path.write_bytes(path.read_bytes()[:500])


def missing(path: Path) -> None:
    """It is gone."""
    path.unlink()


def spoilt(path: Path, statement: str) -> None:
    """Runs SQL on the database with all triggers gone."""
    with closing(sqlite3.connect(path, isolation_level=None)) as db:
        for (name,) in db.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'trigger'"
        ).fetchall():
            db.execute(f"DROP TRIGGER {name}")
        assert db.execute(statement).rowcount > 0


class Played:
    """A log with some answered rounds: stopped in order, and as a crash leaves it, with a WAL."""

    made: tuple[dict[str, bytes], dict[str, bytes], Ledger] | None = None

    @classmethod
    async def put(cls, root: Path, *, crashed: bool = False) -> Ledger:
        """Puts it below a directory; returns what front-ends know."""
        if cls.made is None:
            ledger, there = Ledger(), root.with_name("played")
            await Base.put(there)
            async with started(there) as server:
                await play(server, ledger)
                crash = take_image(there)
            cls.made = take_image(there), crash, ledger
        put_image(cls.made[crashed], root)
        return cls.made[2].copy()


async def outcome(root: Path, ledger: Ledger) -> str:
    """Who finds the damage, in words."""
    try:
        return await outcome_of_start(root, ledger)
    except (DataDirError, KeyFileError, StoreRefused, StorageFailed) as error:
        return f"start refuses: {str(error).replace(f'{root}/', '')}"
    except (GameError, DecodeError, LookupError, ValueError) as error:
        return f"start crashes: {type(error).__name__}"
    finally:
        gc.collect()


async def outcome_of_start(root: Path, ledger: Ledger) -> str:
    """What a server that starts does with every request that was answered, and with new ones."""
    async with started(root) as server:
        found: list[str] = []
        for request_id, answer in ledger.answers.items():
            try:
                again = await server.raw(*ledger.requests[request_id])
            except grpc.aio.AioRpcError as error:
                found.append(f"call refuses: {read_refusal(error).reason or error.code().name}")
            else:
                found += [] if again == answer else ["front-ends hold another answer"]
        if not found:
            found = await get_rounds(server, ledger)
        if not found:
            found = await play_on(server)
        verdict = await verified(server)
        await abandon(server)
    if not found and verdict == "":
        check_heads(root / "data", ledger)
        return "kept"
    return found[0] if found else verdict


async def get_rounds(server: Running, ledger: Ledger) -> list[str]:
    """GetRound gives a deal's own answer."""
    for request_id, answer in ledger.answers.items():
        method, request = ledger.requests[request_id]
        if method == "DealRound":
            try:
                again = await server.raw("GetRound", pb_game.GetRoundRequest(name=request.round))
            except grpc.aio.AioRpcError as error:
                return [f"GetRound refuses: {read_refusal(error).reason or error.code().name}"]
            if again != answer:
                return ["GetRound shows another answer"]
    return []


async def play_on(server: Running) -> list[str]:
    """New rounds at the tables that were played."""
    later = Ledger()
    try:
        await play(server, later, "later", rounds=1)
    except ExceptionGroup:
        return [f"call refuses: {', '.join(sorted(later.reasons))}"]
    return []


async def verified(server: Running) -> str:
    """The auditor's verdict on the whole log; "" when it is sound."""
    try:
        note = (await server.audit.GetCheckpoint(pb_audit.GetCheckpointRequest())).checkpoint
        report = audit_log(server.data_dir, note)
    except (grpc.aio.AioRpcError, ValueError, LookupError) as error:
        return f"verification fails: {type(error).__name__}"
    codes = sorted({str(finding.code) for finding in report.findings} - {"SHOE_COUNTER_GAP"})
    return f"verification finds {', '.join(codes)}" if codes or not report.valid else ""


async def damaged(name: str, damage: Damage, expected: str, crashed: bool, root: Path) -> None:
    """The one outcome that the row names."""
    ledger = await Played.put(root / "row", crashed=crashed)
    damage(root / "row" / name)
    found = await outcome(root / "row", ledger)
    assert found == expected or (expected.endswith("…") and found.startswith(expected[:-1])), found
