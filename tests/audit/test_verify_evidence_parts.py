"""Evidence with a part missing, moved, doubled or foreign is refused; each file is sealed anew."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sealedshoe_audit.containers import seal_evidence
from sealedshoe_audit.errors import Code
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.v1.evidence_pb2 import Evidence, LoggedRecord
from sealedshoe_audit.verify.evidence import verify_evidence
from tests.audit.forge.cases import CASES
from tests.audit.forge.evidence import logged, make_evidence
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.stories import SHORT, play_shoe
from tests.audit.forge.table import ForgedTable, install

INCOMPLETE, EXTRA = Code.EVIDENCE_INCOMPLETE, Code.EVIDENCE_EXTRA


def codes(evidence: Evidence, trust: Trust) -> list[Code]:
    """Returns the findings on evidence, sealed anew."""
    return [finding.code for finding in verify_evidence(seal_evidence(evidence), trust).findings]


def kind_of(record: LoggedRecord) -> str:
    """Returns the last part of a record's payload type."""
    kind = pb.Envelope.FromString(record.envelope).payload_type
    return kind.removeprefix("application/vnd.sealedshoe.").removesuffix(".v1+protobuf")


@pytest.mark.parametrize("name", CASES)
def test_no_record_may_be_dropped_but_the_reveal(name: str) -> None:
    table, number = CASES[name]()
    evidence = make_evidence(table, number)
    for index, record in enumerate(evidence.records):
        mutant = Evidence()
        mutant.CopyFrom(evidence)
        del mutant.records[index]
        found = codes(mutant, table.log.trust())
        follows = index == len(evidence.records) - 1 and reveals_later(evidence, number)
        if follows:
            assert found == []
        elif kind_of(record) == "key-changed":
            assert found == [Code.RECORD_KEY]
        else:
            # A chain without its shoe's opening breaks inside the fold.
            assert found in ([INCOMPLETE], [Code.SHOE_STATE], [Code.SHOE_OPENING])


def reveals_later(evidence: Evidence, number: int) -> bool:
    """Whether the file's last record is a reveal behind the round's own result."""
    envelope = pb.Envelope.FromString(evidence.records[-1].envelope)
    if kind_of(evidence.records[-1]) == "shoe-retired":
        return True
    last = pb.RoundDealt.FromString(envelope.payload)
    return kind_of(evidence.records[-1]) == "round-dealt" and last.round_number != number


@pytest.mark.parametrize("name", CASES)
def test_records_stand_once_and_in_order(name: str) -> None:
    table, number = CASES[name]()
    evidence = make_evidence(table, number)
    for index in range(1, len(evidence.records)):
        swapped, doubled = Evidence(), Evidence()
        swapped.CopyFrom(evidence)
        swapped.records.insert(index - 1, swapped.records.pop(index))
        assert codes(swapped, table.log.trust())[0] in (
            Code.RECORD_ORDER,
            Code.RECORD_KEY,
            INCOMPLETE,
        )
        doubled.CopyFrom(evidence)
        doubled.records.insert(index, doubled.records[index])
        assert codes(doubled, table.log.trust()) == [Code.RECORD_ORDER]


def test_a_record_is_proved_at_its_own_index() -> None:
    table, number = CASES["middle_of_a_shoe"]()
    for at in range(1, len(make_evidence(table, number).records)):
        evidence = make_evidence(table, number)
        evidence.records[at].index += 1
        assert codes(evidence, table.log.trust())[0] in (Code.INCLUSION, Code.RECORD_ORDER)


Mutation = Callable[[ForgedTable, Evidence], object]
PATHS: dict[str, Mutation] = {
    "no path": lambda _, e: e.records[2].ClearField("inclusion_path"),
    "one hash less": lambda _, e: shorten(e.records[2], 32),
    "one byte less": lambda _, e: shorten(e.records[2], 1),
    "one hash more": lambda _, e: lengthen(e.records[2]),
    "of another leaf": lambda _, e: exchange(e.records[2], e.records[3]),
    "index 2^64-1": lambda _, e: setattr(e.records[-1], "index", 2**64 - 1),
}


def shorten(record: LoggedRecord, by: int) -> None:
    """Cuts an inclusion path."""
    record.inclusion_path = record.inclusion_path[:-by]


def lengthen(record: LoggedRecord) -> None:
    """Adds a hash to an inclusion path."""
    record.inclusion_path += bytes(32)


def exchange(one: LoggedRecord, other: LoggedRecord) -> None:
    """Gives two records each other's path."""
    one.inclusion_path, other.inclusion_path = other.inclusion_path, one.inclusion_path


@pytest.mark.parametrize("mutate", PATHS.values(), ids=PATHS.keys())
def test_an_envelope_without_its_own_inclusion_proof_is_refused(mutate: Mutation) -> None:
    table, number = CASES["middle_of_a_shoe"]()
    evidence = make_evidence(table, number)
    mutate(table, evidence)
    assert codes(evidence, table.log.trust()) == [Code.INCLUSION]


def two_table_log() -> tuple[ForgedTable, ForgedTable]:
    """Returns two tables that played in turn, with an event between them."""
    log = ForgedLog()
    install(log, SHORT)
    tables = ForgedTable(log, "7", SHORT), ForgedTable(log, "8", SHORT)
    for table in tables:
        play_shoe(table)
        log.event()
    return tables


def insert(evidence: Evidence, log: ForgedLog, index: int) -> None:
    """Adds a leaf at its place."""
    evidence.records.append(logged(log, index))
    ordered = sorted(evidence.records, key=lambda record: record.index)
    del evidence.records[:]
    evidence.records.extend(ordered)


@pytest.mark.parametrize("of", [0, 1])
def test_a_foreign_record_is_refused_wherever_it_stands(of: int) -> None:
    table = two_table_log()[of]
    log = table.log
    for number in (1, 3):
        given = {record.index for record in make_evidence(table, number).records}
        for index in set(range(len(log.entries))) - given:
            evidence = make_evidence(table, number)
            insert(evidence, log, index)
            assert codes(evidence, log.trust()) == [EXTRA], f"round {number}, leaf {index}"


def test_two_game_versions_are_one_too_many() -> None:
    log = ForgedLog()
    install(log, SHORT)
    install(log, replace(SHORT, version=2))
    table = ForgedTable(log, "7", SHORT)
    play_shoe(table)
    evidence = make_evidence(table, 1)
    insert(evidence, log, 2)
    assert codes(evidence, log.trust()) == [EXTRA]
    del evidence.records[1]
    assert codes(evidence, log.trust()) == [INCOMPLETE]
