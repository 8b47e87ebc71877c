"""The main job, small: its output is complete, and a stranger accepts it."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

GAMES = (
    "classic-8d-tie9",
    "mini-baccarat-8d",
    "punto-banco-6d",
    "punto-banco-8d-tie9",
    "shoe-6d",
    "shoe-7d",
    "shoe-8d",
)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, str]:
    """Output directory and screen of a demo of 20 rounds a table."""
    out = tmp_path_factory.mktemp("demo") / "out"
    command = [
        sys.executable,
        "-m",
        "sealedshoe_server",
        "demo",
        "--rounds",
        "20",
        "--out",
        str(out),
    ]
    done = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    return out, done.stdout


def test_it_shows_every_game_whole_without_a_terminal(demo: tuple[Path, str]) -> None:
    """Game ids are not cut, and the verdict is printed."""
    _, screen = demo
    for game in GAMES:
        assert f" {game} " in screen
    assert "VALID" in screen
    assert "byte for byte" in screen


def test_its_files_are_all_there(demo: tuple[Path, str]) -> None:
    """log/, vkey, trust.json, and evidence/ with evidence files and nothing else."""
    out, _ = demo
    vkey = (out / "vkey").read_text()
    assert vkey.count("\n") == 1
    assert vkey.strip() in json.loads((out / "trust.json").read_text())["checkpoint_keys"]
    assert (out / "log" / "checkpoint").exists()
    names = sorted(path.name for path in (out / "evidence").iterdir())
    assert len(names) == 3 * len(GAMES)
    assert all(name.endswith(".evidence") for name in names)


def wheel_only(tmp_path: Path) -> Path:
    """A directory with the audit wheel, cryptography and protobuf, and nothing else to import."""
    wheels, site = tmp_path / "wheels", tmp_path / "site"
    build = [sys.executable, "-m", "build", "--no-isolation", "--wheel", "--outdir", str(wheels)]
    subprocess.run([*build, "audit"], check=True, stdout=subprocess.DEVNULL)
    (wheel,) = wheels.glob("sealedshoe_audit-*.whl")
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index"]
    subprocess.run([*install, "--target", str(site), str(wheel)], check=True)
    packages = Path(next(p for p in sys.path if p.endswith("site-packages")))
    for name in ("cryptography", "cffi", "pycparser"):
        if (packages / name).exists():
            (site / name).symlink_to(packages / name)
    for file in packages.glob("_cffi_backend*"):
        (site / file.name).symlink_to(file)
    (site / "google").mkdir()
    (site / "google" / "protobuf").symlink_to(packages / "google" / "protobuf")
    (site / "google" / "_upb").symlink_to(packages / "google" / "_upb")
    return site


def stranger(site: Path, *arguments: str) -> tuple[int, dict[str, object]]:
    """Runs the verifier isolated from everything but `site`."""
    start = f"import sys; sys.path.insert(0, {str(site)!r}); "
    start += "from sealedshoe_audit.cli import main; main()"
    command = [sys.executable, "-I", "-S", "-c", start, *arguments, "--json"]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False)
    return done.returncode, json.loads(done.stdout)


def test_a_stranger_verifies_with_the_audit_wheel_alone(
    demo: tuple[Path, str], tmp_path: Path
) -> None:
    """Without grpcio: evidence, log and replay are valid; one flipped bit is not."""
    out, _ = demo
    site = wheel_only(tmp_path)
    probe = f"import sys; sys.path.insert(0, {str(site)!r}); import grpc"
    refused = subprocess.run(
        [sys.executable, "-I", "-S", "-c", probe], capture_output=True, check=False
    )
    assert b"ModuleNotFoundError" in refused.stderr
    trust = ("--trust", str(out / "trust.json"))
    evidence = out / "evidence" / "shoe-8d-10.evidence"
    code, report = stranger(site, "verify", str(evidence), *trust)
    assert (code, report["verdict"], report["round"]) == (0, "valid", "tables/shoe-8d/rounds/10")
    code, report = stranger(site, "log", str(out / "log"), *trust)
    assert (code, report["verdict"]) == (0, "valid")
    name = "tables/punto-banco-6d/rounds/20"
    code, report = stranger(site, "replay", str(out / "log"), *trust, "--round", name)
    assert (code, report["verdict"], report["decks"], report["reach"]) == (0, "valid", 6, 6)
    data = evidence.read_bytes()
    for bit in range(3, 8 * len(data), 8 * len(data) // 12):
        damaged = bytearray(data)
        damaged[bit // 8] ^= 1 << bit % 8
        file = tmp_path / "damaged.evidence"
        file.write_bytes(damaged)
        code, report = stranger(site, "verify", str(file), *trust)
        assert (code, report["verdict"]) == (1, "invalid")


def test_it_refuses_a_directory_that_is_not_its_own(tmp_path: Path) -> None:
    """Somebody's files are never removed."""
    out = tmp_path / "mine"
    shutil.copytree("docs/adr", out)
    command = [sys.executable, "-m", "sealedshoe_server", "demo", "--out", str(out)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert "not empty" in done.stderr
    assert any(out.iterdir())
