"""Evidence from an operator who cheats with the real keys: the log is signed and included as it is.

Each file here is whole, canonical and proved; only what the records say is against the rules.
"""

from collections.abc import Callable
from typing import Any

import pytest

from sealedshoe_audit.containers import seal_evidence
from sealedshoe_audit.errors import Code
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.evidence import verify_evidence
from sealedshoe_audit.verify.report import Report
from tests.audit.forge.evidence import logged, make_evidence
from tests.audit.forge.log import nth
from tests.audit.forge.published import errors
from tests.audit.forge.shoe import scripted_seed
from tests.audit.forge.stories import long_story
from tests.audit.forge.table import ForgedTable

Change = Callable[[Any], object]


def verdict(table: ForgedTable, number: int) -> Report:
    """Verifies a round's evidence as the operator hands it out."""
    return verify_evidence(seal_evidence(make_evidence(table, number)), table.log.trust())


# What is changed, in the n-th record of a kind, and the round whose evidence must show it.
CHEATS: dict[str, tuple[type, int, Change, int, Code]] = {
    "total": (pb.RoundDealt, 1, lambda r: setattr(r, "banker_total", 6), 1, Code.DEAL),
    "outcome": (pb.RoundDealt, 2, lambda r: setattr(r, "outcome", 3), 3, Code.DEAL),
    "natural": (pb.RoundDealt, 2, lambda r: r.ClearField("natural"), 3, Code.DEAL),
    "other suit": (
        pb.RoundDealt,
        1,
        lambda r: setattr(r.cards[0], "card", (r.cards[0].card + 13) % 52),
        1,
        Code.CARD_PROOF,
    ),
    "other salt": (
        pb.RoundDealt,
        1,
        lambda r: setattr(r.cards[0], "salt", bytes(16)),
        1,
        Code.CARD_PROOF,
    ),
    "payment": (
        pb.RoundDealt,
        1,
        lambda r: setattr(r.settlements[2], "gross_return", 3980),
        1,
        Code.SETTLEMENT,
    ),
    "wager dropped": (pb.RoundDealt, 1, lambda r: r.settlements.pop(2), 1, Code.SETTLEMENT),
    "stake kept": (pb.RoundVoided, 1, lambda r: r.ClearField("returned"), 2, Code.VOID),
    "position": (
        pb.RoundOpened,
        3,
        lambda r: setattr(r, "first_position", 10),
        3,
        Code.SHOE_STATE,
    ),
    "another opening": (
        pb.RoundDealt,
        2,
        lambda r: setattr(r, "opening_hash", bytes(32)),
        3,
        Code.OPENING_MISMATCH,
    ),
    "round number": (
        pb.RoundOpened,
        3,
        lambda r: setattr(r, "round_number", 4),
        3,
        Code.ROUND_NUMBER,
    ),
    "seed": (
        pb.RoundDealt,
        4,
        lambda r: setattr(r.closing, "seed", scripted_seed(2, 6)),
        5,
        Code.SEED_COMMITMENT,
    ),
    "seed of a later reveal": (
        pb.RoundDealt,
        4,
        lambda r: setattr(r.closing, "seed", scripted_seed(2, 6)),
        4,
        Code.SEED_COMMITMENT,
    ),
    "commitment": (
        pb.RoundOpened,
        1,
        lambda r: setattr(r.shoe, "seed_commitment", bytes(32)),
        1,
        Code.SEED_COMMITMENT,
    ),
    "cards root": (
        pb.RoundOpened,
        1,
        lambda r: setattr(r.shoe, "cards_root", bytes(32)),
        1,
        Code.CARD_PROOF,
    ),
    "odds": (pb.GameInstalled, 1, lambda r: r.odds.pop(), 1, Code.ODDS_MISMATCH),
    "step": (
        pb.TableChanged,
        1,
        lambda r: setattr(r.settings.limits, "step", 10),
        1,
        Code.TABLE_SETTINGS,
    ),
    "time": (pb.RoundDealt, 1, lambda r: setattr(r.header, "time_us", 1), 1, Code.RECORD_TIME),
    "origin": (
        pb.RoundDealt,
        1,
        lambda r: setattr(r.header, "origin", "other"),
        1,
        Code.RECORD_ORIGIN,
    ),
    "version": (
        pb.RoundDealt,
        1,
        lambda r: setattr(r.header, "version", 2),
        1,
        Code.RECORD_VERSION,
    ),
    "chain": (
        pb.RoundDealt,
        1,
        lambda r: setattr(r.link, "previous_hash", bytes(32)),
        1,
        Code.CHAIN,
    ),
}


@pytest.mark.parametrize("cheat", CHEATS.values(), ids=CHEATS.keys())
def test_a_signed_lie_about_the_round_is_found_in_its_evidence(
    cheat: tuple[type, int, Change, int, Code],
) -> None:
    kind, count, change, number, code = cheat
    report = verdict(long_story(nth(kind, count, change)), number)
    assert errors(report) == [code]


def test_an_unknown_field_under_a_good_signature_is_refused() -> None:
    def rewrite(record: Any, payload: bytes) -> bytes:
        return payload + b"\xf8\x3f\x01" if isinstance(record, pb.RoundDealt) else payload

    assert errors(verdict(long_story(rewrite=rewrite), 1)) == [Code.UNKNOWN_FIELD]


def test_a_reveal_of_another_shoe_is_refused() -> None:
    table = long_story()
    evidence = make_evidence(table, 4)
    del evidence.records[-1]
    retired = next(i for i, r in enumerate(table.log.records) if isinstance(r, pb.ShoeRetired))
    evidence.records.append(logged(table.log, retired))
    report = verify_evidence(seal_evidence(evidence), table.log.trust())
    assert errors(report) == [Code.SHOE_OPENING]


def test_a_second_reveal_is_refused() -> None:
    table = long_story()
    evidence = make_evidence(table, 5)
    retired = next(i for i, r in enumerate(table.log.records) if isinstance(r, pb.ShoeRetired))
    evidence.records.append(logged(table.log, retired))
    report = verify_evidence(seal_evidence(evidence), table.log.trust())
    assert errors(report) == [Code.EVIDENCE_EXTRA]
