"""Policy files: the one quorum of named witnesses, read strictly and met by nobody else's signatures."""

from itertools import chain, combinations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sealedshoe_audit.errors import Code, VerificationError
from sealedshoe_audit.log.checkpoint import verify_checkpoint
from sealedshoe_audit.log.note import VerifierKey, cosignature_line, parse_vkey
from sealedshoe_audit.log.policy import parse_policy
from sealedshoe_audit.trust import Trust
from tests.audit.forge.log import key, public
from tests.audit.log.example import CHECKPOINT, LOG_KEY, ORIGIN, TEXT, TRUST, WITNESS_KEY

W = [VerifierKey(f"w{n}.example", 4, public(key(20 + n))) for n in range(6)]
LINES = [f"witness w{n} {w.text()}" for n, w in enumerate(W)]
NESTED = [
    f"log {LOG_KEY.text()} https://log.example/7",
    *LINES,
    "group left 2 w0 w1 w2",
    "group right any w3 w4",
    "group both all left right",
    "quorum both",
]


def policy_bytes(*lines: str) -> bytes:
    """Returns a policy file of these lines."""
    return "".join(f"{line}\n" for line in lines).encode()


def problem(data: bytes) -> tuple[Code, str] | None:
    """What is wrong with a policy file, and where, if anything."""
    try:
        parse_policy(data)
    except VerificationError as error:
        return error.code, error.found
    return None


def met(signed: set[int]) -> bool:
    """The nested quorum, restated: two of the first three and one of the next two."""
    return len(signed & {0, 1, 2}) >= 2 and bool(signed & {3, 4})


def test_every_combination_of_witnesses_makes_the_quorum_exactly_when_the_groups_say_so() -> None:
    policy = parse_policy(policy_bytes(*NESTED))
    everyone = range(6)
    for signed in chain.from_iterable(combinations(everyone, n) for n in range(7)):
        assert policy.is_met_by([W[n] for n in signed]) == met(set(signed)), signed


def test_the_fewest_witnesses_that_can_make_a_nested_quorum_are_counted() -> None:
    assert parse_policy(policy_bytes(*NESTED)).fewest() == 3
    assert parse_policy(policy_bytes(*LINES[:1], "quorum w0")).fewest() == 1
    assert parse_policy(policy_bytes("quorum none")).fewest() == 0


def test_a_quorum_of_none_is_met_by_nobody_at_all() -> None:
    assert parse_policy(policy_bytes(*LINES, "quorum none")).is_met_by([])


def test_a_single_witness_can_be_the_quorum_and_no_other_key_of_its_name_counts() -> None:
    policy = parse_policy(policy_bytes(LINES[0], "quorum w0"))
    assert policy.is_met_by([W[0]])
    assert not policy.is_met_by([VerifierKey(W[0].name, 4, public(key(90)))])
    assert not policy.is_met_by([VerifierKey(W[0].name, 1, W[0].public_key)])


def test_comments_blank_lines_tabs_and_runs_of_spaces_say_nothing() -> None:
    text = ["# a policy", "", f"witness\tw0   {W[0].text()}", "   # indented", "  quorum w0  "]
    assert parse_policy(policy_bytes(*text)) == parse_policy(policy_bytes(LINES[0], "quorum w0"))


def test_logs_and_witnesses_keep_their_addresses() -> None:
    policy = parse_policy(policy_bytes(NESTED[0], f"{LINES[0]} http://w0.example/x", "quorum none"))
    assert [(log.key, log.url) for log in policy.logs] == [(LOG_KEY, "https://log.example/7")]
    assert [(w.name, w.key, w.url) for w in policy.witnesses] == [
        ("w0", W[0], "http://w0.example/x")
    ]


def test_a_policy_is_written_in_one_form_that_reads_back_the_same() -> None:
    policy = parse_policy(policy_bytes("# comment", *NESTED))
    written = policy_bytes(
        *NESTED[:7],
        "group left 2 w0 w1 w2",
        "group right 1 w3 w4",
        "group both 2 left right",
        "quorum both",
    )
    assert policy.text().encode() == written
    assert parse_policy(written) == policy


OTHER_LOG = VerifierKey("other.example", 1, public(key(40)))
BAD = {
    "no quorum": (LINES[:1], 0),
    "two quorums": ([LINES[0], "quorum w0", "quorum w0"], 3),
    "quorum of nobody": ([LINES[0], "quorum w1"], 2),
    "quorum of a witness below": (["quorum w0", LINES[0]], 1),
    "quorum of two": ([*LINES[:2], "quorum w0 w1"], 3),
    "group of a name below": ([LINES[0], "group g 1 w1", LINES[1], "quorum g"], 2),
    "group of itself": ([LINES[0], "group g 1 g", "quorum g"], 2),
    "group without members": ([LINES[0], "group g any", "quorum g"], 2),
    "group named twice": ([*LINES[:2], "group g 1 w0", "group g 1 w1", "quorum g"], 4),
    "group named like a witness": ([*LINES[:2], "group w0 1 w1", "quorum w0"], 3),
    "a member twice": ([LINES[0], "group g 2 w0 w0", "quorum g"], 2),
    "a member of two groups": ([LINES[0], "group g 1 w0", "group h 1 w0", "quorum g"], 3),
    "threshold 0": ([LINES[0], "group g 0 w0", "quorum g"], 2),
    "threshold below 0": ([LINES[0], "group g -1 w0", "quorum g"], 2),
    "threshold 01": ([LINES[0], "group g 01 w0", "quorum g"], 2),
    "threshold beyond its members": ([*LINES[:2], "group g 3 w0 w1", "quorum g"], 3),
    "threshold in words": ([LINES[0], "group g most w0", "quorum g"], 2),
    "two witnesses of one name": ([LINES[0], f"witness w0 {W[1].text()}", "quorum w0"], 2),
    "two witnesses of one key": ([LINES[0], f"witness w9 {W[0].text()}", "quorum w0"], 2),
    "a log's key for a witness": (
        [
            f"log {OTHER_LOG.text()}",
            f"witness w {VerifierKey('w', 4, OTHER_LOG.public_key).text()}",
            "quorum w",
        ],
        2,
    ),
    "a witness called none": ([f"witness none {W[0].text()}", "quorum none"], 1),
    "a group called none": ([LINES[0], "group none 1 w0", "quorum none"], 2),
    "a witness that signs as a log": ([f"witness w {OTHER_LOG.text()}", "quorum none"], 1),
    "a log that signs as a witness": ([f"log {W[0].text()}", "quorum none"], 1),
    "a witness without a key": (["witness w0", "quorum none"], 1),
    "a log without a key": (["log", "quorum none"], 1),
    "an address without a scheme": ([f"{LINES[0]} w0.example", "quorum none"], 1),
    "an address of another scheme": ([f"log {LOG_KEY.text()} file:///etc", "quorum none"], 1),
    "words behind an address": ([f"{LINES[0]} https://w0.example more", "quorum none"], 1),
    "another kind of line": (["mirror m", "quorum none"], 1),
    "capital letters": (["Quorum none"], 1),
    "a name that is a comment": ([f"witness #w {W[0].text()}", "quorum none"], 1),
    "a name that is no ASCII": ([f"witness wé {W[0].text()}", "quorum none"], 1),
    "a name that is too long": ([f"witness {'w' * 101} {W[0].text()}", "quorum none"], 1),
}


@pytest.mark.parametrize(("lines", "number"), BAD.values(), ids=BAD.keys())
def test_a_policy_with_a_bad_line_is_refused_and_the_line_named(
    lines: list[str], number: int
) -> None:
    assert problem(policy_bytes(*lines)) == (Code.TRUST, f"policy line {number}")


def test_a_damaged_vkey_in_a_policy_is_refused() -> None:
    damaged = LINES[0].replace(W[0].id.hex(), "00000000")
    assert problem(policy_bytes(damaged, "quorum w0")) is not None


def test_a_policy_that_is_too_long_or_no_text_is_refused() -> None:
    comment = b"#" * (64 * 1024 - 13) + b"\n"
    assert problem(comment + b"quorum none\n") is None
    assert problem(b"#" + comment + b"quorum none\n") == (Code.TRUST, "policy line 0")
    assert problem(b"# \xff\nquorum none\n") == (Code.TRUST, "policy line 0")


def nested_groups(depth: int) -> bytes:
    """Returns a policy of one witness in groups of groups, the innermost around the witness itself."""
    groups = [f"group g{n} 1 {f'g{n - 1}' if n else 'w0'}" for n in range(depth)]
    return policy_bytes(LINES[0], *groups, f"quorum g{depth - 1}")


def test_groups_of_groups_are_read_to_a_depth_at_which_they_can_be_evaluated() -> None:
    policy = parse_policy(nested_groups(16))
    assert policy.fewest() == 1
    assert policy.is_met_by([W[0]])
    assert not policy.is_met_by([W[1]])
    assert problem(nested_groups(17)) == (Code.TRUST, "policy line 18")
    assert problem(nested_groups(3000)) == (Code.TRUST, "policy line 18")


@settings(deadline=None, max_examples=200)
@given(st.binary(max_size=300) | st.text(max_size=300).map(str.encode))
def test_any_bytes_are_a_policy_or_a_refusal(data: bytes) -> None:
    found = problem(data)
    assert found is None or found[0] is Code.TRUST


WORDS = ["log", "witness", "group", "quorum", "none", "any", "all", "1", "2", "w", "g", "#"]
LINE = st.lists(st.sampled_from([*WORDS, W[0].text(), W[1].text(), LOG_KEY.text()]), max_size=6)


@settings(deadline=None, max_examples=300)
@given(st.lists(LINE, max_size=6))
def test_whatever_is_read_is_written_and_read_back_the_same(lines: list[list[str]]) -> None:
    data = policy_bytes(*map(" ".join, lines))
    if problem(data) is None:
        policy = parse_policy(data)
        assert parse_policy(policy.text().encode()) == policy


def cosigned_by(*numbers: int) -> bytes:
    """Returns the worked example's checkpoint with cosignatures of test witnesses."""
    lines = [cosignature_line(TEXT, W[n].name, key(20 + n), 1_767_225_600) for n in numbers]
    return CHECKPOINT + "".join(lines).encode()


def under(*lines: str) -> Trust:
    """Returns the worked example's trust under a policy."""
    return TRUST.under(parse_policy(policy_bytes(*lines)))


def verdict(note: bytes, trust: Trust) -> Code | None:
    """What is wrong with a checkpoint, if anything."""
    try:
        verify_checkpoint(note, trust)
    except VerificationError as error:
        return error.code
    return None


@pytest.mark.parametrize(
    ("numbers", "code"),
    [
        ((0, 1, 3), None),
        ((0, 2, 4), None),
        ((0, 1, 2), Code.QUORUM),  # three of them, and the second group is missing
        ((3, 4, 5), Code.QUORUM),
        ((0, 3), Code.QUORUM),
        ((), Code.QUORUM),
    ],
)
def test_a_checkpoint_needs_the_policys_quorum_and_not_just_its_number(
    numbers: tuple[int, ...], code: Code | None
) -> None:
    assert verdict(cosigned_by(*numbers), under(*NESTED)) is code


def test_a_policys_witnesses_take_the_place_of_those_in_the_trust_file() -> None:
    trust = under(LINES[0], "quorum w0")
    assert trust.witnesses == (W[0],)
    assert verdict(CHECKPOINT, TRUST) is None
    assert verdict(CHECKPOINT, trust) is Code.QUORUM
    assert verdict(CHECKPOINT, under(f"witness w {WITNESS_KEY.text()}", "quorum w")) is None


def test_a_policy_without_quorum_asks_for_no_cosignature() -> None:
    note = CHECKPOINT.split(b"\n\n")[0] + b"\n\n" + CHECKPOINT.split(b"\n")[4] + b"\n"
    assert parse_vkey(LOG_KEY.text()).name == ORIGIN
    assert verdict(note, under(*LINES, "quorum none")) is None
    assert verdict(note, TRUST) is Code.QUORUM
