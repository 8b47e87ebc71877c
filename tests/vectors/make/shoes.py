"""Vectors of words, shoes and card trees, by the plain second implementation in make_shoes.py."""

import hashlib
from collections.abc import Iterator
from typing import Any

from tests.audit.forge.tree import leaf_of, outside_of, root_of
from tests.vectors.make.suite import Suite, flips
from tests.vectors.make_shoes import card_leaves, salts_of, shuffled, tree_root, words_of

SOURCE = "tests/vectors/make_shoes.py: hashlib and hmac alone"
ORIGIN, TABLE = "log.example/sealed-shoe", "7"
SHOES_A_DECK = 10


def draw() -> Suite:
    """Words at the limit of rejection, for every m that a shuffle draws one of."""
    suite = Suite("draw", "docs/protocol.md, 3, by arithmetic")
    for m in (1, 2, 3, 5, 52, 104, 255, 256, 257, 311, 312, 415, 416):
        limit = 2**32 - 2**32 % m
        taken = [0, limit - 1]
        for word in taken:
            suite.good(f"one of {m}: {word}", {"words": [word], "m": m}, _drawn(word % m, 1))
        if limit == 2**32:
            continue
        refused = [limit, 2**32 - 1]
        given = {"words": [*refused, limit - 1], "m": m}
        suite.good(f"one of {m} after two refusals", given, _drawn((limit - 1) % m, 3))
        suite.bad(f"one of {m} from no good word", {"words": refused, "m": m}, "CARDS_ROOT")
    return suite


def _drawn(value: int, taken: int) -> dict[str, int]:
    return {"value": value, "taken": taken}


def shoe() -> Suite:
    """Ten shoes for each number of decks: every card, the commitment, the root and the first salt."""
    suite = Suite("shoe", SOURCE)
    for decks in range(1, 9):
        for n in range(SHOES_A_DECK):
            reach = 6 if n % 2 else 52 * decks
            given = _shoe_input(decks, n, reach)
            suite.good(f"{decks} decks, shoe {n}", given, _shoe_output(given))
    short = _shoe_input(6, 0, 312)
    for name, seed in (("short", short["seed"][2:]), ("long", short["seed"] + "00"), ("none", "")):
        suite.bad(f"a seed too {name}", short | {"seed": seed}, "SEED_COMMITMENT")
    return suite


def _shoe_input(decks: int, n: int, reach: int) -> dict[str, Any]:
    length = 48 + 128 * (52 * decks // 112 + 1)
    seed = hashlib.shake_256(b"suite shoe %d of %d decks" % (n, decks)).digest(length)
    return {
        "origin": ORIGIN if n % 3 else "é.example/log",
        "table": TABLE if n % 4 else "a" * 40,
        "shoe_number": str((1, 2, 255, 2**32, 2**63)[n % 5]),
        "decks": decks,
        "reach": reach,
        "seed": seed.hex(),
    }


def order_of(given: dict[str, Any]) -> list[int]:
    """Returns the cards of a shoe."""
    origin, table = given["origin"].encode(), given["table"].encode()
    identity = len(origin).to_bytes(2, "big") + origin + len(table).to_bytes(2, "big") + table
    identity += int(given["shoe_number"]).to_bytes(8, "big") + bytes([given["decks"]])
    return shuffled(given["decks"], words_of(bytes.fromhex(given["seed"]), identity))


def _shoe_output(given: dict[str, Any]) -> dict[str, str]:
    seed, cards = bytes.fromhex(given["seed"]), order_of(given)
    return {
        "order": bytes(cards).hex(),
        "seed_commitment": hashlib.sha256(b"sealedshoe/v1/seed\0" + seed).hexdigest(),
        "cards_root": tree_root(card_leaves(seed, cards, given["reach"])).hex(),
        "first_salt": salts_of(seed, 1)[0].hex(),
    }


def card_range() -> Suite:
    """Range proofs at the edges of trees, each with its spoilt twins."""
    suite = Suite("card_range", f"{SOURCE}; proofs by RFC 6962's recursion")
    for decks, reach in ((1, 6), (8, 6), (1, 52), (6, 312), (8, 416)):
        given = _shoe_input(decks, 1, reach)
        leaves = card_leaves(bytes.fromhex(given["seed"]), order_of(given), reach)
        for first, end in _ranges(reach):
            case = _range_case(leaves, 52 * decks, reach, first, end)
            name = f"{decks} decks, reach {reach}, [{first}, {end})"
            suite.good(name, case, {})
            for problem, twin in _spoilt(case):
                suite.bad(f"{name}: {problem}", twin, "CARD_PROOF")
    return suite


def _ranges(reach: int) -> list[tuple[int, int]]:
    ranges = [(0, 4), (0, 6), (1, 6), (0, 1), (reach - 6, reach), (reach - 1, reach), (0, reach)]
    inside = [(3, 9), (127, 133), (255, 261), (256, 260)]
    return [r for r in dict.fromkeys([*ranges, *inside]) if r[1] <= reach and r[1] - r[0] <= 52]


def _range_case(
    leaves: list[bytes], cards: int, reach: int, first: int, end: int
) -> dict[str, Any]:
    hashes = [leaf_of(leaf) for leaf in leaves]
    return {
        "cards_root": root_of(hashes).hex(),
        "cards": cards,
        "reach": reach,
        "first": first,
        "leaves": [leaf.hex() for leaf in leaves[first:end]],
        "proof": b"".join(outside_of(first, end, hashes)).hex(),
    }


def _spoilt(case: dict[str, Any]) -> Iterator[tuple[str, dict[str, Any]]]:
    yield "one position on", case | {"first": case["first"] + 1}
    yield "a hash more", case | {"proof": case["proof"] + "00" * 32}
    yield "a hash too short", case | {"proof": case["proof"] + "00"}
    yield "no leaf", case | {"leaves": []}
    yield "another root", case | {"cards_root": "11" * 32}
    yield "a reach too short", case | {"reach": case["first"] + len(case["leaves"]) - 1}
    if case["proof"]:
        yield "a hash less", case | {"proof": case["proof"][64:]}
        for name, proof in flips(bytes.fromhex(case["proof"])):
            yield f"the proof's {name}", case | {"proof": proof.hex()}
    for name, leaf in flips(bytes.fromhex(case["leaves"][0])):
        yield f"the first leaf's {name}", case | {"leaves": [leaf.hex(), *case["leaves"][1:]]}
    long = case["leaves"][0] + "00"
    yield "a leaf of 20 bytes", case | {"leaves": [long, *case["leaves"][1:]]}
    no_card = case["leaves"][0][:-2] + "34"
    yield "a card of code 52", case | {"leaves": [no_card, *case["leaves"][1:]]}
