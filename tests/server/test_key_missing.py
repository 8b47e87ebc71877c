"""A server without a key to sign with appends nothing, says so, and leaves a sound log behind."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import grpc
import pytest

from sealedshoe_audit.trust import parse_trust
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.server.copies import config_of
from tests.server.process import server_process
from tests.server.reading import audit_log
from tests.server.rotating import (
    CHECKPOINT,
    SEALING,
    STATEMENT,
    change_of,
    changes_in,
    checkpoint,
    hand_in,
    make_key,
    status,
)
from tests.server.running import Running

SIGNING = [STATEMENT, CHECKPOINT]
PATIENCE_S = 2.0  # for an answer; a call that nobody answers fails


@asynccontextmanager
async def apart(data_dir: Path) -> AsyncIterator[Running]:
    """A server in a process of its own, which may break, with a table "t"."""
    async with (
        server_process(data_dir, "--bare") as process,
        grpc.aio.insecure_channel(process.addresses["grpc"]) as channel,
    ):
        server = Running(None, config_of(data_dir), channel)  # type: ignore[arg-type]
        await server.install()
        await server.open_table()
        yield server


async def deal(server: Running) -> grpc.StatusCode:
    """Deals, and returns what became of it."""
    opened = (await server.table()).round
    request = pb_game.DealRoundRequest(
        request_id=server.fresh(),
        round=opened.name,
        opening_hash=opened.opening_hash,
        wagers=[pb_game.NewWager(wager_id="w", spot="player", stake=100, player="alice")],
    )
    try:
        await server.game.DealRound(request, timeout=PATIENCE_S)
    except grpc.aio.AioRpcError as error:
        return error.code()
    return grpc.StatusCode.OK


@pytest.mark.parametrize("purpose", [*SIGNING, SEALING])
async def test_a_key_whose_file_is_gone_at_its_leaf(tmp_path: Path, purpose: int) -> None:
    """The change is forgotten, the key in force goes on, and the log is sound."""
    async with apart(tmp_path / "data") as server:
        new = make_key(server.data_dir, purpose)
        change = await change_of(server, purpose, new, 80)
        await hand_in(server, change)
        new.path.unlink()
        while (await status(server)).log_size <= change.first_leaf:
            assert await deal(server) is grpc.StatusCode.OK
        assert not changes_in(server.data_dir)
        assert (await status(server)).log_writable
        assert audit_log(server.data_dir, await checkpoint(server)).valid


async def revoked(server: Running, purpose: int) -> grpc.StatusCode:
    """Revokes the key in force, and returns what became of a deal behind it."""
    await hand_in(server, await change_of(server, purpose, None, 3))
    while not changes_in(server.data_dir):
        await server.size()
    return await deal(server)


async def test_a_revoked_statement_key_signs_nothing_any_more(tmp_path: Path) -> None:
    """Every call that writes is refused, and the log is sound."""
    async with apart(tmp_path / "data") as server:
        code = await revoked(server, STATEMENT)
        assert code not in (grpc.StatusCode.OK, grpc.StatusCode.DEADLINE_EXCEEDED)
        assert not (await status(server)).log_writable
        assert audit_log(server.data_dir, await checkpoint(server)).valid


async def test_a_checkpoint_key_is_replaced_and_never_just_revoked(tmp_path: Path) -> None:
    """A log without one has no heads: the server refuses, and goes on."""
    async with apart(tmp_path / "data") as server:
        with pytest.raises(grpc.aio.AioRpcError) as caught:
            await hand_in(server, await change_of(server, CHECKPOINT, None, 3))
        assert "must be there" in str(caught.value.details())
        parse_trust((server.data_dir / "trust.json").read_bytes())
        assert await deal(server) is grpc.StatusCode.OK
