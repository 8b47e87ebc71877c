"""Time stamps of RFC 3161 are taken from a trusted authority over the very bytes, and from nobody else."""

from datetime import UTC, datetime

import pytest

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.tsa import stamp_check
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_audit.verify.log import LogOptions, LogReport, verify_log
from tests.audit.forge.log import ForgedLog
from tests.audit.forge.published import MemorySource, errors, publish
from tests.audit.openssl_tsa import LocalTsa

MESSAGE = b"a head of a log\n"


@pytest.fixture(scope="module")
def authority(tmp_path_factory: pytest.TempPathFactory) -> LocalTsa:
    """An authority that readers trust."""
    return LocalTsa(tmp_path_factory.mktemp("tsa"))


@pytest.fixture(scope="module")
def stranger(tmp_path_factory: pytest.TempPathFactory) -> LocalTsa:
    """An authority of the same names and other keys."""
    return LocalTsa(tmp_path_factory.mktemp("stranger"))


def problem(roots: list[bytes], response: bytes, message: bytes = MESSAGE) -> Code | None:
    """What is wrong with a time stamp, if anything."""
    try:
        stamp_check(roots)(response, message)
    except VerificationError as error:
        return error.code
    return None


def time_in(response: bytes) -> int:
    """Finds the one GeneralizedTime of a whole second in a response's TSTInfo; microseconds since 1970."""
    at = response.index(b"\x18\x0f")
    text = response[at + 2 : at + 17].decode()
    made = datetime.strptime(text, "%Y%m%d%H%M%SZ").replace(tzinfo=UTC)
    return int(made.timestamp()) * 1_000_000


def test_a_stamp_of_a_trusted_authority_says_its_time(authority: LocalTsa) -> None:
    response = authority.stamp(MESSAGE)
    assert stamp_check([authority.root_pem])(response, MESSAGE) == time_in(response)


def test_one_of_several_roots_is_enough(authority: LocalTsa, stranger: LocalTsa) -> None:
    response = authority.stamp(MESSAGE)
    assert problem([stranger.root_pem, authority.root_pem], response) is None
    assert problem([stranger.root_pem + authority.root_pem], response) is None


def test_a_strangers_stamp_is_refused_although_its_names_are_the_same(
    authority: LocalTsa, stranger: LocalTsa
) -> None:
    assert problem([authority.root_pem], stranger.stamp(MESSAGE)) is Code.TIME_STAMP
    assert problem([stranger.root_pem], authority.stamp(MESSAGE)) is Code.TIME_STAMP


def test_a_stamp_over_other_bytes_is_refused(authority: LocalTsa) -> None:
    response = authority.stamp(MESSAGE)
    for other in (MESSAGE[:-1], MESSAGE + b"\n", b""):
        assert problem([authority.root_pem], response, other) is Code.TIME_STAMP


def test_a_stamp_that_is_cut_or_longer_is_refused(authority: LocalTsa) -> None:
    response = authority.stamp(MESSAGE)
    cut = [response[:length] for length in range(0, len(response), 13)]
    for data in (*cut, response + b"\0", b"junk"):
        assert problem([authority.root_pem], data) is Code.TIME_STAMP


def test_a_stamp_with_another_time_or_hash_is_refused(authority: LocalTsa) -> None:
    response = authority.stamp(MESSAGE)
    year = response.index(b"\x18\x0f") + 2
    for at in (year, year + 3, year + 12, len(response) - 1):
        changed = response[:at] + bytes([response[at] ^ 1]) + response[at + 1 :]
        assert problem([authority.root_pem], changed) is Code.TIME_STAMP


def test_an_authoritys_refusal_is_no_stamp(authority: LocalTsa) -> None:
    assert problem([authority.root_pem], authority.stamp(MESSAGE, "sha1")) is Code.TIME_STAMP
    assert problem([authority.root_pem], authority.respond(b"junk")) is Code.TIME_STAMP


@pytest.mark.parametrize("roots", [[], [b""], [b"junk"]])
def test_a_reader_without_a_root_certificate_is_told_so(roots: list[bytes]) -> None:
    with pytest.raises(ValueError, match=r"\S"):
        stamp_check(roots)


def stamped_log(message_of: bytes | None, authority: LocalTsa) -> tuple[ForgedLog, int]:
    """Returns a log with a stamp over its newest head, or over other bytes; and the stamp's time."""
    log = ForgedLog()
    log.event()
    note = log.note()
    response = authority.stamp(note if message_of is None else message_of)
    log.time_us = time_in(response)
    log.append(pb.TimeStamped(header=log.header(), checkpoint=note, response=response))
    return log, time_in(response)


def verified(log: ForgedLog, authority: LocalTsa) -> LogReport:
    """Verifies a log by an authority's root certificate."""
    options = LogOptions(check_stamp=stamp_check([authority.root_pem]))
    source = MemorySource(publish(log))
    return verify_log(source, log.trust(), log.time_us, lambda *_: None, options)


def test_a_log_with_a_real_stamp_is_valid_and_its_time_is_told(authority: LocalTsa) -> None:
    log, time_us = stamped_log(None, authority)
    report = verified(log, authority)
    assert report.findings == []
    assert report.facts["time_stamps"] == [{"authority": "RFC 3161", "time_us": time_us, "size": 2}]


def test_a_log_with_a_stamp_over_other_bytes_or_of_a_stranger_is_invalid(
    authority: LocalTsa, stranger: LocalTsa
) -> None:
    other, _ = stamped_log(ForgedLog().note(), authority)
    assert errors(verified(other, authority)) == [Code.TIME_STAMP]
    log, _ = stamped_log(None, stranger)
    assert errors(verified(log, authority)) == [Code.TIME_STAMP]
