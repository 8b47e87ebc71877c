"""The certified RNG: what it mixes, what it refuses, and that no two instances agree."""

import re
import subprocess
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from sealedshoe_rng import CertifiedRng, DeviceSource, OsSource, RngFailed
from sealedshoe_rng.known_answers import (
    DRBG_ANSWER,
    DRBG_ENTROPY,
    DRBG_NONCE,
    check_known_answers,
)
from tests.server.entropy import SteeredSource

IDENTITY, HEAD = b"shoe", bytes(32)
VECTORS = Path(__file__).parents[1] / "vectors" / "hmac_drbg"
FAULTS = ["stuck", "repeating", "short", "broken", "ramp"]


def rng_of(*sources: SteeredSource) -> CertifiedRng:
    return CertifiedRng(sources[0], sources[1:], "boot")


@pytest.mark.parametrize(("decks", "size"), [(1, 176), (6, 432), (8, 560)])
def test_a_seed_has_its_layouts_length(decks: int, size: int) -> None:
    """48 + 128 S bytes: 1 deck S = 1, 6 decks S = 3, 8 decks S = 4."""
    assert len(rng_of(SteeredSource()).draw_seed(IDENTITY, decks, HEAD).seed) == size


def test_the_counter_counts_every_seed_from_one() -> None:
    """Three draws are numbers 1, 2, 3 of one instance, and three different seeds."""
    rng = rng_of(SteeredSource())
    drawn = [rng.draw_seed(IDENTITY, 8, HEAD) for _ in range(3)]
    assert [draw.counter for draw in drawn] == [1, 2, 3]
    assert {draw.instance for draw in drawn} == {rng.instance}
    assert len({draw.seed for draw in drawn}) == 3


def test_two_instances_differ_in_name_and_seed() -> None:
    """What two processes of one machine draw has nothing in common."""
    one, two = rng_of(SteeredSource()), rng_of(SteeredSource())
    assert one.instance != two.instance
    assert one.draw_seed(IDENTITY, 8, HEAD).seed != two.draw_seed(IDENTITY, 8, HEAD).seed


def test_a_seed_is_not_what_the_kernel_gave() -> None:
    """The root is mixed in: no seed equals, or hides whole, a read of the operating system's."""
    source = SteeredSource()
    seed = rng_of(source).draw_seed(IDENTITY, 8, HEAD).seed
    assert source.given[-1] != seed
    assert len(source.given[-1]) == len(seed)


def test_a_seed_is_not_what_the_root_alone_would_give() -> None:
    """The seed XOR the kernel's share is the root's share, and that is not zero."""
    source = SteeredSource()
    seed = rng_of(source).draw_seed(IDENTITY, 8, HEAD).seed
    share = bytes(a ^ b for a, b in zip(seed, source.given[-1], strict=True))
    assert len(set(share)) > 200


@pytest.mark.parametrize("fault", FAULTS)
def test_a_source_that_is_bad_from_the_start_gives_no_seed(fault: str) -> None:
    """A failed start-up test is kept, and every draw says so."""
    source = SteeredSource()
    source.fault = fault
    rng = rng_of(source)
    assert rng.failure is not None
    with pytest.raises(RngFailed, match=re.escape(rng.failure)):
        rng.draw_seed(IDENTITY, 8, HEAD)


@pytest.mark.parametrize("fault", ["stuck", "short", "broken", "ramp"])
@pytest.mark.parametrize("good_reads", [0, 1])
def test_a_source_that_goes_bad_fails_the_next_draw(fault: str, good_reads: int) -> None:
    """Whichever read of a draw goes wrong, no seed comes out and the counter stands still."""
    source = SteeredSource()
    rng = rng_of(source)
    rng.draw_seed(IDENTITY, 8, HEAD)
    source.fault, source.spare = fault, good_reads
    with pytest.raises(RngFailed):
        rng.draw_seed(IDENTITY, 8, HEAD)
    assert rng.counter == 1


def test_a_source_that_repeats_itself_fails_within_two_draws() -> None:
    """Reads that begin like the one before are found, however random they look."""
    source = SteeredSource()
    rng = rng_of(source)
    source.fault = "repeating"
    with pytest.raises(RngFailed):
        _draw_all(rng, 4)


def _draw_all(rng: CertifiedRng, seeds: int) -> None:
    for _ in range(seeds):
        rng.draw_seed(IDENTITY, 8, HEAD)


@pytest.mark.parametrize("fault", FAULTS)
def test_a_bad_second_source_fails_the_whole(fault: str) -> None:
    """A configured device that fails its tests is never quietly left out."""
    second = SteeredSource("device")
    second.fault = fault
    rng = rng_of(SteeredSource(), second)
    with pytest.raises(RngFailed, match="device"):
        rng.draw_seed(IDENTITY, 8, HEAD)


def test_a_failure_lasts_until_somebody_resumes() -> None:
    """A healed source alone changes nothing; resuming does, with a new instance from 1."""
    source = SteeredSource()
    rng = rng_of(source)
    before = rng.draw_seed(IDENTITY, 8, HEAD).instance
    source.fault = "stuck"
    with pytest.raises(RngFailed):
        rng.draw_seed(IDENTITY, 8, HEAD)
    source.fault = ""
    with pytest.raises(RngFailed):
        rng.draw_seed(IDENTITY, 8, HEAD)
    assert rng.resume()
    drawn = rng.draw_seed(IDENTITY, 8, HEAD)
    assert drawn.counter == 1
    assert drawn.instance != before


def test_resuming_a_source_that_is_still_bad_says_so() -> None:
    """The start-up tests are run again, and fail again."""
    source = SteeredSource()
    source.fault = "stuck"
    rng = rng_of(source)
    assert not rng.resume()
    assert rng.failure is not None


def test_salts_can_be_had_while_seeds_cannot() -> None:
    """Standing wagers are dealt whatever the RNG's health: salts do not come from the root."""
    second = SteeredSource("device")
    rng = rng_of(SteeredSource(), second)
    second.fault = "broken"
    with pytest.raises(RngFailed):
        rng.draw_seed(IDENTITY, 8, HEAD)
    assert len(rng.random_bytes(16)) == 16


def test_salts_are_never_short() -> None:
    """Sixteen bytes asked for are sixteen bytes given, or an error: a short salt is a weak one."""
    source = SteeredSource()
    rng = rng_of(source)
    source.fault = "short"
    with pytest.raises((OSError, RngFailed)):
        rng.random_bytes(16)


def test_no_seed_is_shown_by_any_representation() -> None:
    """Neither the draw nor the generator prints a byte of seed or state."""
    rng = rng_of(SteeredSource())
    drawn = rng.draw_seed(IDENTITY, 8, HEAD)
    shown = repr(drawn) + str(drawn) + repr(rng) + repr(vars(rng))
    for i in range(0, len(drawn.seed) - 8, 8):
        piece = drawn.seed[i : i + 8]
        assert piece.hex() not in shown
        assert repr(piece)[2:-1] not in shown


FORK = """
import os, sys
from sealedshoe_rng import CertifiedRng, OsSource
rng = CertifiedRng(OsSource(), [], "boot")
rng.draw_seed(b"shoe", 1, bytes(32))
children = []
for _ in range(2):
    reader, writer = os.pipe()
    if os.fork() == 0:
        draw = rng.draw_seed(b"shoe", 1, bytes(32))
        os.write(writer, f"{draw.seed.hex()} {draw.instance.hex()} {draw.counter}".encode())
        os._exit(0)
    os.wait()
    children.append(os.read(reader, 4096).decode())
draw = rng.draw_seed(b"shoe", 1, bytes(32))
print(f"{draw.seed.hex()} {draw.instance.hex()} {draw.counter}", *children, sep="\\n")
"""


def test_forked_children_draw_other_seeds_under_other_names() -> None:
    """Parent and two children: three seeds, three instances, and the children count from 1."""
    done = subprocess.run(
        [sys.executable, "-c", FORK], capture_output=True, text=True, check=True, timeout=30
    )
    rows = [line.split() for line in done.stdout.splitlines()]
    assert len({row[0] for row in rows}) == 3
    assert len({row[1] for row in rows}) == 3
    assert [row[2] for row in rows] == ["2", "1", "1"]


def test_the_known_answers_hold_here() -> None:
    """Every primitive of this installation gives its standard's answer."""
    check_known_answers()


def test_the_known_answer_of_the_drbg_is_cavps() -> None:
    """First SHA-512 case without personalization or additional input of CAVP's no_reseed file."""
    text = (VECTORS / "no_reseed.HMAC_DRBG.sha256-sha512.rsp").read_text("utf-8")
    section = text.split("[SHA-512]", 1)[1].split("COUNT = 0", 1)[1].split("COUNT = 1", 1)[0]
    values = dict(re.findall(r"^(\w+) = ([0-9a-f]*)", section, re.MULTILINE))
    assert (values["EntropyInput"], values["Nonce"]) == (DRBG_ENTROPY, DRBG_NONCE)
    assert sha256(bytes.fromhex(values["ReturnedBits"])).hexdigest() == DRBG_ANSWER


def test_the_operating_systems_source_gives_any_length() -> None:
    """getrandom may give fewer bytes at a time; the source never does."""
    source = OsSource()
    assert [len(source.read(size)) for size in (0, 1, 256, 1_000_003)] == [0, 1, 256, 1_000_003]


def test_a_device_gives_exactly_what_is_asked(tmp_path: Path) -> None:
    """A file stands in for a character device; each read starts at its beginning."""
    path = tmp_path / "device"
    path.write_bytes(bytes(range(100)))
    assert DeviceSource(path).read(100) == bytes(range(100))
    assert DeviceSource(path).name == str(path)


def test_a_device_that_ends_early_or_is_gone_raises(tmp_path: Path) -> None:
    """Too few bytes are an error, and so is an unplugged device."""
    path = tmp_path / "device"
    path.write_bytes(bytes(99))
    with pytest.raises(OSError, match="ended after 99 bytes"):
        DeviceSource(path).read(100)
    path.unlink()
    with pytest.raises(OSError, match="No such file"):
        DeviceSource(path).read(100)


def test_a_missing_device_fails_the_rng(tmp_path: Path) -> None:
    """A configured device that is not there stops new shoes, and does not stop the process."""
    rng = CertifiedRng(OsSource(), [DeviceSource(tmp_path / "hwrng")], "boot")
    assert rng.failure is not None
    assert "hwrng" in rng.failure
