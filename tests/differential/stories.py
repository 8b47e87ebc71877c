"""Random courses of play: every shipped game, voids, retirements, key changes, witnesses."""

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from random import Random
from typing import Any

from sealedshoe_audit.baccarat.definition import Shuffle
from sealedshoe_audit.baccarat.facts import round_facts
from sealedshoe_audit.baccarat.rules import deal
from sealedshoe_audit.baccarat.settlement import settle
from sealedshoe_audit.log.note import TYPE_COSIGNATURE, VerifierKey, cosignature_line
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from tests.audit.forge.log import ForgedLog, key, public
from tests.audit.forge.table import ForgedTable, install, wager
from tests.differential.games import offer

WITNESSES = {"w1.example/a": 61, "w2.example/b": 62, "w3.example/c": 63}
WITNESS_KEYS = tuple(
    VerifierKey(name, TYPE_COSIGNATURE, public(key(number))) for name, number in WITNESSES.items()
)


class PlayedTable(ForgedTable):
    """A table that settles the bets of any game, with the game's rounding."""

    def _settle(self, placed: pb.Wager, outcome: int) -> pb.Settlement:
        script = self.rounds[self.round_number]
        bet = self.game.bet(placed.spot)
        assert bet is not None
        case = bet.case(round_facts(deal(script.dealt.cards)))
        settled = settle(case, placed.stake, self.game.rounding)
        return pb.Settlement(
            wager=placed,
            result=game_pb2.BetResult.ValueType(settled.result),
            gross_return=settled.gross_return,
            commission=settled.commission,
        )

    def bet(self, random: Random, wager_id: str) -> pb.Wager:
        """Returns a wager within the limits."""
        limits = self.settings.limits
        most = limits.maximum
        if limits.spot_maximum:
            most //= 8  # a round has at most seven wagers
        stake = limits.step * random.randrange(1, most // limits.step + 1)
        return wager(wager_id, random.choice(self.game.bets).id, stake)


@dataclass(slots=True)
class Story:
    """A played table, with what a reader of its log trusts."""

    table: PlayedTable
    trust: Trust
    finished: list[int]
    cosigned: dict[bytes, bytes]


def cosign(note: bytes, names: list[str], time_s: int) -> bytes:
    """Returns a checkpoint with the lines of these witnesses behind its own."""
    text = note.decode().rpartition("\n\n")[0] + "\n"
    lines = "".join(cosignature_line(text, n, key(WITNESSES[n]), time_s) for n in names)
    return note + lines.encode()


def tell(random: Random) -> Story:
    """Plays a table at random until a few rounds are over."""
    log = ForgedLog()
    log.shoes_drawn = random.randrange(2**40)
    log.time_us += random.randrange(2**40)
    witnesses = random.choice((0, 0, 1, 3))
    cosigned: dict[bytes, bytes] = {}
    if witnesses:
        log.tamper = _named_heads(log, random, cosigned)
    checkpoint_keys = [public(log.checkpoint_key)]
    for _ in range(random.choice((0, 0, 0, 1, 2))):
        _change_key(log, random, checkpoint_keys)
    chosen = offer(random)
    install(log, chosen.game)
    if random.random() < 0.2:
        _other_table(log, random)
    name = random.choice(("7", "vip-1", "a" * 40))
    table = PlayedTable(
        log, name, chosen.game, chosen.limits, currency_digits=chosen.digits
    )
    finished = _play(table, random, checkpoint_keys)
    keys = tuple(VerifierKey(log.origin, 1, k) for k in dict.fromkeys(checkpoint_keys))
    quorum = random.randint(0, witnesses)
    trust = Trust(log.origin, public(log.root), keys, WITNESS_KEYS[:witnesses], quorum)
    return Story(table, trust, finished, cosigned)


def _other_table(log: ForgedLog, random: Random) -> None:
    chosen = offer(random)
    other = PlayedTable(log, "other", chosen.game, chosen.limits, currency_digits=chosen.digits)
    for _ in range(random.randrange(3)):
        other.open()
        other.deal(other.bet(random, "o"))


def _named_heads(
    log: ForgedLog, random: Random, cosigned: dict[bytes, bytes]
) -> Callable[[Any], object]:
    """Lets most openings name a cosigned head."""

    def tamper(record: Any) -> None:
        if isinstance(record, pb.RoundOpened) and random.random() < 0.8:
            names = random.sample(sorted(WITNESSES), random.randint(1, 3))
            note = cosign(log.note(), names, random.randrange(2**34))
            record.cosigned_head_hash = sha256(note).digest()
            cosigned[record.cosigned_head_hash] = note

    return tamper


def _change_key(log: ForgedLog, random: Random, checkpoint_keys: list[bytes]) -> None:
    number = random.randrange(70, 250)
    purpose = random.choice((1, 2))
    log.change_key(number, purpose)
    if purpose == pb.KEY_PURPOSE_CHECKPOINT:
        checkpoint_keys.append(public(log.checkpoint_key))


def _play(table: PlayedTable, random: Random, checkpoint_keys: list[bytes]) -> list[int]:
    finished: list[int] = []
    for _ in range(random.randrange(1, 6)):
        if random.random() < 0.05:
            _change_key(table.log, random, checkpoint_keys)
        _round(table, random)
        finished.append(table.round_number)
        if random.random() < 0.1 and table.state == pb.TABLE_STATE_ENABLED:
            table.change(pb.TABLE_STATE_SUSPENDED)
            table.change(pb.TABLE_STATE_ENABLED)
    if table.shoe is not None and random.random() < 0.5:
        table.retire(unavailable=random.random() < 0.3)
    if random.random() < 0.3:
        table.log.event()
    return finished


def _round(table: PlayedTable, random: Random) -> None:
    table.open()
    for call in range(random.choice((0, 0, 1, 2))):
        table.accept(*(table.bet(random, f"{call}{n}") for n in range(random.randint(1, 3))))
    if random.random() < 0.1:
        table.change(pb.TABLE_STATE_DRAINING)
    if random.random() < 0.2:
        table.void()
        if table.game.shuffle is Shuffle.EVERY_ROUND:
            table.retire(pb.RETIRE_CAUSE_ROUND_VOIDED)
    else:
        late = [] if table.standing and random.random() < 0.3 else [table.bet(random, "d")]
        table.deal(*late)
    if table.state == pb.TABLE_STATE_DRAINING:
        table.change(pb.TABLE_STATE_ENABLED)
