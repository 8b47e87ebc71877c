"""A shoe and the rules of its rounds, restated in a few lines. Only the shuffle is the package's own."""

from dataclasses import dataclass
from hashlib import sha256, shake_256

from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF

from sealedshoe_audit.shoe.seed import card_order
from tests.audit.forge.tree import leaf_of, outside_of, root_of

PLAYER, BANKER, TIE = 1, 2, 3
WIN, PUSH, LOSE = 1, 2, 3
# Banker's two-card total -> Player's third cards on which Banker draws.
_DRAWS = ("0123456789",) * 3 + ("012345679", "234567", "4567", "67", "")


def scripted_seed(number: int, decks: int) -> bytes:
    """Returns the seed of the log's n-th shoe."""
    return shake_256(b"forged seed %d" % number).digest(48 + 128 * (52 * decks // 112 + 1))


class ForgedShoe:
    """A committed shoe with everything that proves its cards."""

    def __init__(self, seed: bytes, origin: str, table: str, number: int, decks: int, reach: int):
        names = b"".join(len(n).to_bytes(2, "big") + n for n in (origin.encode(), table.encode()))
        self.seed = seed
        self.cards, self.reach = 52 * decks, reach
        self.commitment = sha256(b"sealedshoe/v1/seed\x00" + seed).digest()
        identity = names + number.to_bytes(8, "big") + bytes([decks])
        self.order = card_order(seed, identity, decks)
        size = reach + (reach < self.cards)
        derive = HKDF(SHA256(), 16 * size, salt=None, info=b"sealedshoe/v1/card-salts")
        self._salts = derive.derive(seed)
        last = [self.order[reach:]] if reach < self.cards else []
        groups = [self.order[i : i + 1] for i in range(reach)] + last
        self._leaves = [
            leaf_of(self.salt(i) + i.to_bytes(2, "big") + group) for i, group in enumerate(groups)
        ]
        self.root = root_of(self._leaves)

    def salt(self, position: int) -> bytes:
        """Returns the salt of a leaf."""
        return self._salts[16 * position : 16 * position + 16]

    def prove(self, start: int, end: int) -> bytes:
        """Returns the range proof of [start, end), hashes joined."""
        return b"".join(outside_of(start, end, self._leaves))


@dataclass(frozen=True)
class Dealt:
    """A finished round: `hands` says to whom each card went, in dealing order."""

    cards: bytes
    hands: list[int]
    player_total: int
    banker_total: int
    natural: bool

    @property
    def outcome(self) -> int:
        if self.player_total == self.banker_total:
            return TIE
        return PLAYER if self.player_total > self.banker_total else BANKER


def points(card: int) -> int:
    """Returns a card's value."""
    return min(card % 13 + 1, 10) % 10


def deal_round(cards: bytes) -> Dealt:
    """Deals from the front of `cards`."""
    player = (points(cards[0]) + points(cards[2])) % 10
    banker = (points(cards[1]) + points(cards[3])) % 10
    hands = [PLAYER, BANKER, PLAYER, BANKER]
    natural = max(player, banker) >= 8
    banker_draws = not natural and banker <= 5
    if not natural and player <= 5:
        third = points(cards[4])
        hands.append(PLAYER)
        banker_draws = str(third) in _DRAWS[banker]
        player = (player + third) % 10
    if banker_draws:
        banker = (banker + points(cards[len(hands)])) % 10
        hands.append(BANKER)
    return Dealt(cards[: len(hands)], hands, player, banker, natural)


def settle_wager(spot: str, stake: int, outcome: int, tie_pays: int) -> tuple[int, int, int]:
    """Returns result, gross return and commission of a Player, Banker or Tie wager."""
    backed = {"player": PLAYER, "banker": BANKER, "tie": TIE}[spot]
    if backed == outcome:
        pays = tie_pays if spot == "tie" else 1
        return WIN, stake + pays * stake, stake // 20 if spot == "banker" else 0
    return (PUSH, stake, 0) if outcome == TIE else (LOSE, 0, 0)
