"""A table of a forged log: plays by the rules, and keeps going whatever the log's hooks do."""

from dataclasses import dataclass
from hashlib import sha256
from importlib.resources import files
from typing import Any

from sealedshoe_audit.baccarat.definition import GameDefinition, Shuffle
from sealedshoe_audit.baccarat.definition_file import parse_definition
from sealedshoe_audit.definition_record import definition_message, odds_messages
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.game_pb2 import BetResult, Limits
from tests.audit.forge.log import BY, ForgedLog
from tests.audit.forge.shoe import Dealt, ForgedShoe, deal_round, scripted_seed, settle_wager
from tests.audit.forge.tree import root_of

RNG_INSTANCE = bytes(range(16))
LIMITS = Limits(currency="EUR", minimum=100, maximum=100_000, step=20)


def shipped(name: str) -> GameDefinition:
    """Reads a definition that ships with the package."""
    text = (files("sealedshoe_audit") / "baccarat" / "games" / f"{name}.toml").read_text("utf-8")
    return parse_definition(text)


def install(log: ForgedLog, game: GameDefinition) -> None:
    """Records a game version."""
    log.append(
        pb.GameInstalled(
            header=log.header(),
            definition=definition_message(game),
            odds=odds_messages(game),
            by=BY,
        )
    )


def player_of(wager_id: str) -> tuple[bytes, str]:
    """Returns salt and reference of the player behind a wager."""
    return sha256(b"salt of " + wager_id.encode()).digest()[:16], f"player of {wager_id}"


def wager(wager_id: str, spot: str, stake: int) -> pb.Wager:
    """Returns a wager."""
    salt, reference = player_of(wager_id)
    committed = sha256(b"sealedshoe/v1/player\x00" + salt + reference.encode()).digest()
    return pb.Wager(wager_id=wager_id, spot=spot, stake=stake, player_commitment=committed)


@dataclass
class RoundScript:
    """What the forger dealt, or would have."""

    shoe: ForgedShoe
    shoe_number: int
    first: int
    dealt: Dealt


class ForgedTable:
    """One table; every method appends one record."""

    def __init__(
        self, log: ForgedLog, name: str, game: GameDefinition, limits: Limits = LIMITS, **more: Any
    ):
        self.log, self.name, self.game = log, name, game
        self.tie_pays = 9 if "tie9" in game.game_id else 8
        self.state = pb.TABLE_STATE_UNSPECIFIED
        self.sequence, self.round_number, self.shoe_number = 0, 0, 0
        self.last_hash = self.opening_hash = self.shoe_opening = b""
        self.shoe: ForgedShoe | None = None
        self.position, self.rounds_left = 0, None
        self.standing: list[pb.Wager] = []
        self.rounds: dict[int, RoundScript] = {}
        self.settings = pb.TableSettings(
            game_id=game.game_id,
            game_version=game.version,
            limits=limits,
            **{"currency_digits": 2, **more},
        )
        self.change(pb.TABLE_STATE_ENABLED, self.settings)

    def _parts(self) -> dict[str, Any]:
        link = pb.TableLink(
            table=self.name, sequence=self.sequence + 1, previous_hash=self.last_hash
        )
        return {"header": self.log.header(), "link": link}

    def _add(self, record: Any) -> bytes:
        self.last_hash = self.log.append(record)
        self.sequence += 1
        return self.last_hash

    def change(self, after: Any, settings: pb.TableSettings | None = None) -> None:
        """Changes the table's state."""
        record = pb.TableChanged(**self._parts(), before=self.state, after=after, by=BY)
        if settings is not None:
            record.settings.CopyFrom(settings)
        self.state = after
        self._add(record)

    def open(self, decks: int | None = None, counter: int | None = None) -> None:
        """Opens a round; from a new shoe when none is open."""
        leaves = self.log.leaves
        record = pb.RoundOpened(**self._parts(), head_size=len(leaves), head_root=root_of(leaves))
        self.round_number += 1
        record.round_number = self.round_number
        new = self.shoe is None
        if new:
            record.shoe.CopyFrom(self._new_shoe(decks or self.game.decks, counter))
        else:
            record.shoe_opening_hash = self.shoe_opening
        record.first_position = self.position
        self.opening_hash = self._add(record)
        if new:
            self.shoe_opening = self.opening_hash
        self._script()

    def _new_shoe(self, decks: int, counter: int | None) -> pb.ShoeOpening:
        self.log.shoes_drawn += 1
        self.shoe_number += 1
        self.position, self.rounds_left = 0, None
        reach = 6 if self.game.shuffle is Shuffle.EVERY_ROUND else 52 * decks
        seed = scripted_seed(self.log.shoes_drawn, decks)
        shoe = ForgedShoe(seed, self.log.origin, self.name, self.shoe_number, decks, reach)
        self.shoe = shoe
        return pb.ShoeOpening(
            shoe_number=self.shoe_number,
            game_id=self.game.game_id,
            game_version=self.game.version,
            cards=shoe.cards,
            reach=reach,
            seed_commitment=shoe.commitment,
            cards_root=shoe.root,
            rng_instance=RNG_INSTANCE,
            shoe_counter=counter or self.log.shoes_drawn,
            sealed_seed_digest=bytes(32),
            sealing_key_id="seal-1",
        )

    def _script(self) -> None:
        assert self.shoe is not None
        dealt = deal_round(self.shoe.order[self.position : self.position + 6])
        self.rounds[self.round_number] = RoundScript(
            self.shoe, self.shoe_number, self.position, dealt
        )

    def accept(self, *wagers: pb.Wager) -> None:
        """Takes wagers before the deal."""
        self.standing += wagers
        parts = self._parts()
        self._add(pb.WagersAccepted(**parts, opening_hash=self.opening_hash, wagers=wagers))

    def deal(self, *wagers: pb.Wager) -> None:
        """Deals the open round, with more wagers."""
        script = self.rounds[self.round_number]
        dealt, first = script.dealt, script.first
        end = first + len(dealt.cards)
        record = pb.RoundDealt(
            **self._parts(),
            round_number=self.round_number,
            opening_hash=self.opening_hash,
            player_total=dealt.player_total,
            banker_total=dealt.banker_total,
            natural=dealt.natural,
            outcome=pb.Outcome.ValueType(dealt.outcome),
            settlements=[self._settle(w, dealt.outcome) for w in (*self.standing, *wagers)],
        )
        for position, (card, hand) in enumerate(zip(dealt.cards, dealt.hands, strict=True), first):
            salt = script.shoe.salt(position)
            record.cards.add(position=position, card=card, salt=salt, hand=pb.Hand.ValueType(hand))
        self.rounds_left = self._count_down(first, end)
        self.position, self.standing = end, []
        if self.rounds_left == 0:
            record.closing.CopyFrom(self._closing())
        self._add(record)

    def _settle(self, placed: pb.Wager, outcome: int) -> pb.Settlement:
        result, gross, commission = settle_wager(placed.spot, placed.stake, outcome, self.tie_pays)
        return pb.Settlement(
            wager=placed,
            result=BetResult.ValueType(result),
            gross_return=gross,
            commission=commission,
        )

    def _count_down(self, first: int, end: int) -> int | None:
        if self.game.shuffle is Shuffle.EVERY_ROUND:
            return 0
        if self.rounds_left is not None:
            return self.rounds_left - 1
        cut = 52 * self.game.decks - self.game.cut_depth
        return self.game.rounds_after_cut if first <= cut < end else None

    def _closing(self) -> pb.ShoeClosing:
        assert self.shoe is not None
        closing = pb.ShoeClosing(seed=self.shoe.seed, cards_dealt=self.position)
        self.shoe = None
        return closing

    def void(self, cause: Any = pb.VOID_CAUSE_OPERATOR_ERROR) -> None:
        """Voids the open round."""
        returned = [pb.ReturnedStake(wager_id=w.wager_id, stake=w.stake) for w in self.standing]
        self.standing = []
        parts = {**self._parts(), "round_number": self.round_number, "cause": cause, "by": BY}
        self._add(pb.RoundVoided(**parts, opening_hash=self.opening_hash, returned=returned))

    def retire(self, cause: Any = pb.RETIRE_CAUSE_OPERATOR, *, unavailable: bool = False) -> None:
        """Ends the shoe early."""
        record = pb.ShoeRetired(**self._parts(), cause=cause, by=BY, closing=self._closing())
        record.shoe_opening_hash = self.shoe_opening
        if unavailable:
            record.seed_unavailable = True
            record.closing.seed = b""
        self._add(record)
