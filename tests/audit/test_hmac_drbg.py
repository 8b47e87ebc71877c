"""The DRBG gives what NIST's vectors say, and keeps the limits of SP 800-90A."""

from collections import defaultdict

import pytest

from sealedshoe_audit.hmac_drbg import HmacDrbg
from tests.audit.vectors import vector_text

Case = dict[str, list[bytes]]
FILES = ("no_reseed", "pr_false", "pr_true")
ENTROPY = bytes(range(32))
NONCE = bytes(range(16))


def cases_of(file: str) -> list[Case]:
    """Every SHA-512 case of a .rsp file: its lines' values by name, in order."""
    cases: list[Case] = []
    wanted = False
    for line in vector_text(f"hmac_drbg/{file}.HMAC_DRBG.sha256-sha512.rsp").splitlines():
        if line.startswith("[SHA"):
            wanted = line == "[SHA-512]"
        elif wanted and line.startswith("COUNT"):
            cases.append(defaultdict(list))
        elif wanted and " = " in f"{line} " and not line.startswith("["):
            name, _, value = line.partition("=")
            cases[-1][name.strip()].append(bytes.fromhex(value))
    return cases


def second_output(case: Case) -> bytes:
    """Instantiate; [Reseed]; Generate; Generate."""
    drbg = HmacDrbg(case["EntropyInput"][0], case["Nonce"][0], case["PersonalizationString"][0])
    for entropy, additional in zip(
        case["EntropyInputReseed"], case["AdditionalInputReseed"], strict=True
    ):
        drbg.reseed(entropy, additional)
    size = len(case["ReturnedBits"][0])
    output = b""
    for call, additional in enumerate(case["AdditionalInput"]):
        if case["EntropyInputPR"]:
            drbg.reseed(case["EntropyInputPR"][call], additional)
            output = drbg.generate(size)
        else:
            output = drbg.generate(size, additional)
    return output


@pytest.mark.parametrize("file", FILES)
def test_every_file_holds_240_cases_with_two_generate_calls(file: str) -> None:
    cases = cases_of(file)
    assert len(cases) == 240
    assert {len(case["AdditionalInput"]) for case in cases} == {2}
    assert {len(case["ReturnedBits"][0]) for case in cases} == {256}


@pytest.mark.parametrize("number", range(240))
@pytest.mark.parametrize("file", FILES)
def test_the_second_output_is_the_one_that_nist_published(file: str, number: int) -> None:
    case = cases_by_file[file][number]
    assert second_output(case) == case["ReturnedBits"][0]


cases_by_file = {file: cases_of(file) for file in FILES}


@pytest.mark.parametrize("field", ["EntropyInput", "Nonce", "PersonalizationString"])
def test_one_flipped_bit_of_an_input_changes_the_output(field: str) -> None:
    case = next(c for c in cases_by_file["no_reseed"] if c["PersonalizationString"][0])
    value = case[field][0]
    twin = defaultdict(list, case) | {field: [value[:-1] + bytes([value[-1] ^ 1])]}
    assert second_output(twin) != case["ReturnedBits"][0]


def test_leaving_out_a_reseed_changes_the_output() -> None:
    case = cases_by_file["pr_false"][0]
    twin = defaultdict(list, case) | {"EntropyInputReseed": [], "AdditionalInputReseed": []}
    assert second_output(twin) != case["ReturnedBits"][0]


def test_entropy_input_below_32_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="entropy input"):
        HmacDrbg(ENTROPY[:31], NONCE)
    with pytest.raises(ValueError, match="entropy input"):
        HmacDrbg(ENTROPY, NONCE).reseed(ENTROPY[:31])


def test_a_nonce_below_16_bytes_is_refused() -> None:
    with pytest.raises(ValueError, match="nonce"):
        HmacDrbg(ENTROPY, NONCE[:15])


def test_a_refused_reseed_leaves_the_state_alone() -> None:
    tried, untouched = HmacDrbg(ENTROPY, NONCE), HmacDrbg(ENTROPY, NONCE)
    with pytest.raises(ValueError, match="entropy input"):
        tried.reseed(b"short")
    assert tried.generate(64) == untouched.generate(64)


@pytest.mark.parametrize("size", [0, 1, 63, 64, 65, 65_536])
def test_a_request_of_up_to_65536_bytes_gives_so_many_bytes(size: int) -> None:
    assert len(HmacDrbg(ENTROPY, NONCE).generate(size)) == size


@pytest.mark.parametrize("size", [-1, 65_537, 2**19])
def test_a_request_beyond_the_limit_is_refused(size: int) -> None:
    with pytest.raises(ValueError, match="65536"):
        HmacDrbg(ENTROPY, NONCE).generate(size)


def test_one_request_of_128_bytes_is_not_two_of_64() -> None:
    whole = HmacDrbg(ENTROPY, NONCE).generate(128)
    parts = HmacDrbg(ENTROPY, NONCE)
    first, second = parts.generate(64), parts.generate(64)
    assert whole[:64] == first
    assert whole[64:] != second


def test_a_short_request_is_the_beginning_of_a_longer_one() -> None:
    assert HmacDrbg(ENTROPY, NONCE).generate(10) == HmacDrbg(ENTROPY, NONCE).generate(300)[:10]


def test_two_instances_of_one_seed_agree_and_their_outputs_never_repeat() -> None:
    one, other = HmacDrbg(ENTROPY, NONCE), HmacDrbg(ENTROPY, NONCE)
    outputs = [one.generate(32) for _ in range(50)]
    assert outputs == [other.generate(32) for _ in range(50)]
    assert len(set(outputs)) == 50


def test_the_representation_shows_no_state() -> None:
    drbg = HmacDrbg(ENTROPY, NONCE)
    assert "_key" not in repr(drbg)
    assert not hasattr(drbg, "__dict__")
