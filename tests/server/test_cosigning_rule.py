"""What wagers wait for: the first cosigned head of a new shoe, and witnesses that keep up."""

import asyncio
from collections import deque
from collections.abc import AsyncIterator
from contextlib import nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import grpc
import pytest

from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.cosigning import Cosigned
from sealedshoe_server.cosigning_rule import CosigningRule
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from tests.server.reading import stored_records
from tests.server.refusals import Refusal, read_refusal, refusal_of
from tests.server.running import Running, wager
from tests.server.watched import LONG, SHORT, Watched, until_cosigned, watched_in


@dataclass
class FakeCosigner:
    """What the rule asks of a cosigner."""

    newest: Cosigned
    lag: int = 0

    def lag_us(self) -> int:
        """How long the oldest record waits."""
        return self.lag


@pytest.mark.parametrize(
    ("opened_at", "results", "lag_us", "reason"),
    [
        (9, [], 0, None),
        (10, [], 0, Reason.AWAITING_COSIGNATURE),
        (None, [], 2_000_000, None),
        (None, [], 2_000_001, Reason.COSIGNING_BEHIND),
        (None, [8, 9, 10], 0, None),
        (None, [10, 11], 0, Reason.COSIGNING_BEHIND),
        (10, [10, 11], 2_000_001, Reason.AWAITING_COSIGNATURE),
    ],
)
def test_a_head_of_ten_records_covers_the_first_ten(
    opened_at: int | None, results: list[int], lag_us: int, reason: Reason | None
) -> None:
    """Leaves 0 to 9; two seconds and one round may wait, and no more."""
    cosigner: Any = FakeCosigner(Cosigned(10, b"", b""), lag_us)
    rule = CosigningRule(cosigner, 2.0, 2)
    with nullcontext() if reason is None else pytest.raises(GameError) as caught:
        rule.check(opened_at, deque(results))
    assert (caught and caught.value.reason) == reason


@pytest.fixture
async def watched(tmp_path: Path) -> AsyncIterator[Watched]:
    """One witness, which answers only once it is let."""
    async with watched_in(tmp_path, 1) as made:
        yield made


async def release(server: Running, watched: Watched) -> None:
    """Lets the witness answer, and waits until all is cosigned."""
    witness = watched.witnesses[0]
    witness.quirk = ""
    witness.go.set()
    await until_cosigned(server)


async def until_refused(server: Running, table: str = "t") -> Refusal:
    """Deals round after round until a wager is refused."""
    for _ in range(200):
        try:
            await server.deal(table)
        except grpc.aio.AioRpcError as error:
            return read_refusal(error)
        await asyncio.sleep(0.02)
    raise AssertionError("no wager was ever refused")


def assert_waits(refusal: Refusal, reason: str) -> None:
    """It passes: the caller is told to come again soon."""
    assert (refusal.code, refusal.reason) == ("UNAVAILABLE", reason)
    assert refusal.retry_after_s is not None
    assert 0 < refusal.retry_after_s <= 1


@pytest.mark.parametrize("method", ["DealRound", "PlaceWagers"])
async def test_the_first_wager_on_a_new_shoe_waits_for_its_cosignature(
    watched: Watched, method: str
) -> None:
    """Refused without a trace, and the same request is taken once the opening is cosigned."""
    watched.witnesses[0].quirk = "held"
    server = await watched.open(LONG, cosigned=False)
    size = await server.size()
    request = await server.deal_request()
    if method == "PlaceWagers":
        request = pb_game.PlaceWagersRequest(
            request_id=request.request_id,
            round=request.round,
            opening_hash=request.opening_hash,
            wagers=request.wagers,
        )
    refusal = await refusal_of(server.raw(method, request))
    assert_waits(refusal, "AWAITING_COSIGNATURE")
    assert await server.size() == size
    await release(server, watched)
    await server.raw(method, request)
    assert await server.size() > size


async def test_a_shoe_that_follows_another_waits_too(watched: Watched) -> None:
    """The cut card comes, the next shoe is opened, and its first wager waits."""
    server = await watched.start()
    await server.install(LONG, cut_depth=300)
    await server.open_table(game=LONG)
    await until_cosigned(server)
    assert shoes(server) == 1
    watched.witnesses[0].quirk = "held"
    assert_waits(await until_refused(server), "AWAITING_COSIGNATURE")
    assert shoes(server) == 2
    await release(server, watched)
    await server.deal()


def shoes(server: Running) -> int:
    """How many shoes the log opens."""
    opened = [r for r in stored_records(server.data_dir) if isinstance(r, pb.RoundOpened)]
    return sum(record.HasField("shoe") for record in opened)


async def test_a_shoe_under_way_does_not_wait(watched: Watched) -> None:
    """Only its opening must be cosigned, not every round."""
    server = await watched.open(LONG)
    watched.witnesses[0].quirk = "held"
    for _ in range(5):
        await server.deal()
    await release(server, watched)


async def test_games_that_shuffle_every_round_do_not_wait(watched: Watched) -> None:
    """Their shoes are new each time, and play goes on."""
    server = await watched.open(SHORT)
    watched.witnesses[0].quirk = "held"
    for _ in range(5):
        await server.deal()
    await release(server, watched)


async def test_a_restart_forgets_no_shoe_that_waits(watched: Watched) -> None:
    """The opening is looked up in the log, and so is the newest cosigned head."""
    server = await watched.open(SHORT)
    watched.witnesses[0].quirk = "held"
    await server.install(LONG)
    await server.open_table("long", game=LONG)
    await server.stop()
    again = await watched.start()
    refusal = await refusal_of(again.deal("long"))
    assert_waits(refusal, "AWAITING_COSIGNATURE")
    await again.deal("t")
    await release(again, watched)
    await again.deal("long")


async def test_a_table_takes_no_wagers_once_rounds_lag(watched: Watched) -> None:
    """Three rounds without a quorum, and the fourth is refused at this table; another table plays on."""
    server = await watched.open(SHORT, cosigning_lag_rounds=3)
    await server.open_table("other", game=SHORT)
    await until_cosigned(server)
    watched.witnesses[0].quirk = "held"
    for _ in range(3):
        await server.deal()
    size = await server.size()
    assert_waits(await refusal_of(server.deal()), "COSIGNING_BEHIND")
    assert await server.size() == size
    await server.deal("other")
    await release(server, watched)
    await server.deal()


async def test_no_table_takes_wagers_once_cosigning_lags(watched: Watched) -> None:
    """After the configured seconds, whichever table's records wait; and all play again afterwards."""
    server = await watched.open(SHORT, cosigning_lag_s=0.2)
    await server.open_table("other", game=SHORT)
    await until_cosigned(server)
    watched.witnesses[0].quirk = "held"
    assert_waits(await until_refused(server), "COSIGNING_BEHIND")
    refusal = await refusal_of(server.deal("other"))
    assert refusal.reason == Reason.COSIGNING_BEHIND
    await release(server, watched)
    await server.deal()
    await until_cosigned(server)
    await server.deal("other")


async def test_standing_wagers_are_dealt_while_cosigning_lags(watched: Watched) -> None:
    """Who has paid gets the round; but it takes no further wager, before or with the deal."""
    server = await watched.open(SHORT, cosigning_lag_rounds=1)
    await server.open_table("other", game=SHORT)
    await until_cosigned(server)
    await server.place(wager("stands"))
    await until_cosigned(server)
    watched.witnesses[0].quirk = "held"
    await server.deal("other")
    assert_waits(await refusal_of(server.deal("other")), "COSIGNING_BEHIND")
    await server.deal(wagers=[])
    assert_waits(await refusal_of(server.place(wager("late"))), "COSIGNING_BEHIND")
    await release(server, watched)


async def test_standing_wagers_of_a_table_that_lags_itself_are_dealt(watched: Watched) -> None:
    """The limit in seconds hits the table between its wager and its deal."""
    server = await watched.open(SHORT, cosigning_lag_s=0.2)
    await server.open_table("other", game=SHORT)
    await until_cosigned(server)
    watched.witnesses[0].quirk = "held"
    await server.place(wager("stands"))
    await until_refused(server, "other")
    assert_waits(await refusal_of(server.place(wager("late"))), "COSIGNING_BEHIND")
    assert_waits(await refusal_of(server.deal(wagers=[wager("with")])), "COSIGNING_BEHIND")
    dealt = await server.deal(wagers=[])
    assert dealt.name.endswith("/rounds/1")
    await release(server, watched)


async def test_the_lag_is_shown_and_ends(watched: Watched) -> None:
    """In GetStatus's milliseconds and the gauge's seconds, while a record waits; 0 when none does."""
    server = await watched.open(SHORT)
    assert await shown_lag(server) == 0
    watched.witnesses[0].quirk = "held"
    await server.deal()
    for _ in range(1000):
        if await shown_lag(server) > 0:
            break
        await asyncio.sleep(0.02)
    assert await shown_lag(server) > 0
    await release(server, watched)
    assert await shown_lag(server) == 0


async def shown_lag(server: Running) -> float:
    """The gauge."""
    _, _, page = await server.http("/metrics")
    lines = page.decode().splitlines()
    name = "sealedshoe_cosigning_lag_seconds "
    return next(float(line.removeprefix(name)) for line in lines if line.startswith(name))
