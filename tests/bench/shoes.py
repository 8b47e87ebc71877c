"""Shoes a second of the production path, against the primitives it consists of, as straight loops.

An 8-deck shoe of reach r takes, counted from docs/protocol.md:

    SHA-512 HMACs   4 + 11 to reseed the root and take 560 bytes; 4 + 4 * 13 to expand the seed
    swaps           415, each with one division
    SHA-256 HMACs   1 + one for two salts
    SHA-256         1 commitment, and L leaves and L - 1 nodes, where L is 416, or r + 1 if r < 416
"""

import os
import time
from collections.abc import Callable
from hashlib import sha256
from hmac import digest

from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.shoe.commitment import build_shoe
from sealedshoe_rng import CertifiedRng, OsSource
from tests.bench.plan import Plan
from tests.bench.report import Row, compare

DECKS, CARDS = 8, 416
HMAC_512 = 4 + 11 + 4 + 4 * 13
REACH = {"shoe-8d": 416, "mini-baccarat-8d": 6}
HEAD_ROOT = bytes(32)


def _production(reach: int) -> Callable[[], object]:
    rng = CertifiedRng(OsSource(), [], "bench")
    identity = shoe_identity("localhost/bench", "t1", 1, DECKS)

    def one() -> object:
        drawn = rng.draw_seed(identity, DECKS, HEAD_ROOT)
        return build_shoe(drawn.seed, identity, DECKS, reach)

    return one


def _primitives(reach: int) -> Callable[[], object]:
    leaves = CARDS if reach == CARDS else reach + 1
    words = [int.from_bytes(os.urandom(4), "big") for _ in range(CARDS)]
    key, value, leaf, node = bytes(64), bytes(64), bytes(20), bytes(65)

    def one() -> object:
        for _ in range(HMAC_512):
            digest(key, value, "sha512")
        cards = bytearray(CARDS)
        for i in range(CARDS - 1, 0, -1):
            j = words[i] % (i + 1)
            cards[i], cards[j] = cards[j], cards[i]
        for _ in range(1 + (leaves + 1) // 2):
            digest(key, value, "sha256")
        for _ in range(1 + leaves):
            sha256(leaf).digest()
        for _ in range(leaves - 1):
            sha256(node).digest()
        return cards

    return one


def rate_of(one: Callable[[], object], seconds: float) -> float:
    """Returns how often a second of this thread's CPU time suffices for."""
    done, started = 0, time.thread_time()
    while (used := time.thread_time() - started) < seconds:
        one()
        done += 1
    return done / used


def measure_shoes(plan: Plan) -> list[Row]:
    """Returns a row a game."""
    rows: list[Row] = []
    for game, reach in REACH.items():
        ours, raw = _production(reach), _primitives(reach)
        pairs = [
            (rate_of(ours, plan.loop_s / 2), rate_of(raw, plan.loop_s / 2))
            for _ in range(plan.repeats)
        ]
        rows.append(compare("shoes beside their bare primitives", game, "1/s", pairs))
    return rows
