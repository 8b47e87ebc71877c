"""Evidence with a checkpoint, proof, player or signature exchanged is refused; each is sealed anew."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sealedshoe_audit.containers import seal_evidence
from sealedshoe_audit.errors import Code
from sealedshoe_audit.log.note import VerifierKey
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import Evidence, PlayerOpening
from sealedshoe_audit.verify.evidence import verify_evidence
from tests.audit.forge.cases import CASES
from tests.audit.forge.evidence import make_evidence
from tests.audit.forge.log import ForgedLog, key, public, sign_payload
from tests.audit.forge.stories import long_story
from tests.audit.forge.table import ForgedTable

Mutation = Callable[[ForgedTable, Evidence], object]


def codes(evidence: Evidence, trust: Trust) -> list[Code]:
    """Returns the findings on evidence, sealed anew."""
    return [finding.code for finding in verify_evidence(seal_evidence(evidence), trust).findings]


CHECKPOINTS: dict[str, tuple[Mutation, Code]] = {
    "of another log": (
        lambda _, e: setattr(e, "checkpoint", ForgedLog(origin="other").note()),
        Code.ORIGIN_MISMATCH,
    ),
    "of another operator": (
        lambda _, e: setattr(e, "checkpoint", ForgedLog(keys=20).note()),
        Code.NOTE_SIGNATURE,
    ),
    "of another log of that name and key": (
        lambda _, e: setattr(e, "checkpoint", ForgedLog().note()),
        Code.INCLUSION,
    ),
    "stale": (lambda t, e: setattr(e, "checkpoint", t.log.note(8)), Code.INCLUSION),
    "stale by one leaf": (
        lambda t, e: setattr(e, "checkpoint", t.log.note(len(t.log.entries) - 1)),
        Code.INCLUSION,
    ),
    "none": (lambda _, e: e.ClearField("checkpoint"), Code.PARSE),
}


@pytest.mark.parametrize(("mutate", "code"), CHECKPOINTS.values(), ids=CHECKPOINTS.keys())
def test_another_checkpoint_is_refused(mutate: Mutation, code: Code) -> None:
    table, number = CASES["middle_of_a_shoe"]()
    evidence = make_evidence(table, number)
    mutate(table, evidence)
    assert codes(evidence, table.log.trust()) == [code]


def test_another_trust_file_is_refused() -> None:
    table, number = CASES["first_round"]()
    evidence, trust = make_evidence(table, number), table.log.trust()
    witness = VerifierKey("w.example", 4, public(key(11)))
    other_key = VerifierKey(trust.origin, 1, public(key(12)))
    assert codes(evidence, replace(trust, origin="other")) == [Code.ORIGIN_MISMATCH]
    assert codes(evidence, replace(trust, checkpoint_keys=(other_key,))) == [Code.NOTE_SIGNATURE]
    assert codes(evidence, replace(trust, root_key=bytes(32))) == [Code.ROOT_KEY]
    assert codes(evidence, replace(trust, witnesses=(witness,), quorum=1)) == [Code.QUORUM]


@pytest.mark.parametrize("number", [0, 1, 5, 2**64 - 1])
def test_evidence_is_about_the_round_that_it_names(number: int) -> None:
    table, _ = CASES["middle_of_a_shoe"]()
    evidence = make_evidence(table, 4)
    evidence.round_number = number
    assert codes(evidence, table.log.trust()) != []


CARDS: dict[str, Mutation] = {
    "one byte": lambda _, e: setattr(e, "card_proof", b"\x00" + e.card_proof[1:]),
    "one hash less": lambda _, e: setattr(e, "card_proof", e.card_proof[:-32]),
    "one hash more": lambda _, e: setattr(e, "card_proof", e.card_proof + bytes(32)),
    "one byte less": lambda _, e: setattr(e, "card_proof", e.card_proof[:-1]),
    "none": lambda _, e: e.ClearField("card_proof"),
    "of other positions": lambda t, e: setattr(e, "card_proof", t.rounds[1].shoe.prove(0, 4)),
    "of another shoe": lambda t, e: setattr(e, "card_proof", t.rounds[6].shoe.prove(6, 10)),
}


@pytest.mark.parametrize("mutate", CARDS.values(), ids=CARDS.keys())
def test_another_card_proof_is_refused(mutate: Mutation) -> None:
    table, number = CASES["after_a_void"]()  # positions 6 to 9
    evidence = make_evidence(table, number)
    mutate(table, evidence)
    assert codes(evidence, table.log.trust()) == [Code.CARD_PROOF]


def test_a_voided_round_has_no_card_proof() -> None:
    table, number = CASES["voided_round"]()
    evidence = make_evidence(table, number)
    evidence.card_proof = table.rounds[number].shoe.prove(6, 10)
    assert codes(evidence, table.log.trust()) == [Code.EVIDENCE_EXTRA]


PLAYERS: dict[str, Mutation] = {
    "another reference": lambda _, e: setattr(e.players[0], "reference", "player of b"),
    "another salt": lambda _, e: setattr(e.players[0], "salt", bytes(16)),
    "salt moved into the reference": lambda _, e: (
        setattr(e.players[0], "reference", e.players[0].salt[-1:].decode("latin-1") + "player"),
        setattr(e.players[0], "salt", e.players[0].salt[:-1]),
    ),
    "of another wager": lambda _, e: setattr(e.players[0], "wager_id", "b"),
    "of no wager": lambda _, e: setattr(e.players[0], "wager_id", "z"),
    "twice": lambda _, e: e.players.append(e.players[0]),
    "empty": lambda _, e: e.players.append(PlayerOpening()),
}


@pytest.mark.parametrize("mutate", PLAYERS.values(), ids=PLAYERS.keys())
def test_a_player_opening_that_opens_no_wager_is_refused(mutate: Mutation) -> None:
    table, number = CASES["first_round"]()
    evidence = make_evidence(table, number)
    mutate(table, evidence)
    assert codes(evidence, table.log.trust()) == [Code.PLAYER_OPENING]


@pytest.mark.parametrize("same_id", [False, True])
def test_records_signed_again_by_another_key_are_refused(same_id: bool) -> None:
    table, number = CASES["middle_of_a_shoe"]()
    for at in range(len(make_evidence(table, number).records)):
        evidence = make_evidence(table, number)
        envelope = pb.Envelope.FromString(evidence.records[at].envelope)
        forged = sign_payload(envelope.payload_type, envelope.payload, key(9))
        if same_id:
            forged.keyid = envelope.keyid
        evidence.records[at].envelope = forged.SerializeToString()
        code = Code.RECORD_SIGNATURE if same_id else Code.RECORD_KEY
        assert codes(evidence, table.log.trust()) == [code]


def test_evidence_of_another_log_of_the_same_operator_is_refused() -> None:
    table, number = CASES["first_round"]()
    other = long_story()
    other.log.event()
    evidence = make_evidence(other, number)
    evidence.checkpoint = table.log.note()
    assert codes(evidence, table.log.trust()) == [Code.INCLUSION]
