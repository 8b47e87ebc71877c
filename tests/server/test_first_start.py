"""What a person sees of a first start that cannot be: one line that says what is wrong."""

import asyncio
import sys
from asyncio import create_subprocess_exec
from asyncio.subprocess import PIPE
from pathlib import Path

import pytest

LOOPBACK = ("--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0")


async def refused_start(*options: str) -> str:
    """What `sealedshoe serve` writes when it does not start; it exits 1."""
    command = [sys.executable, "-m", "sealedshoe_server", "serve", *LOOPBACK, *options]
    process = await create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    try:
        async with asyncio.timeout(30):
            out, err = await process.communicate()
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
    assert process.returncode == 1
    return (out + err).decode()


@pytest.mark.parametrize(
    ("setting", "problem"),
    [
        ("orgin = 'x'", "Error: orgin: unknown setting"),
        ("local_listen = '0.0.0.0:1'", "Error: local_listen: must be a loopback address"),
    ],
)
async def test_a_bad_setting_is_told_in_one_line(
    tmp_path: Path, setting: str, problem: str
) -> None:
    """The setting's name, what is wrong with it, and no traceback; nothing is made."""
    (tmp_path / "server.toml").write_text(setting)
    data = tmp_path / "data"
    shown = await refused_start("--data-dir", str(data), "--config", str(tmp_path / "server.toml"))
    assert problem in shown
    assert "Traceback" not in shown
    assert not data.exists()


async def test_a_directory_that_cannot_be_is_told_in_one_line(tmp_path: Path) -> None:
    """A file stands in its place."""
    (tmp_path / "data").write_text("")
    shown = await refused_start("--data-dir", str(tmp_path / "data"))
    assert "data: File exists" in shown
    assert "Traceback" not in shown


async def test_a_failed_rng_at_the_first_start_is_told_in_one_line(tmp_path: Path) -> None:
    """The configured device is not there: no table can be opened, and the reason is said."""
    (tmp_path / "server.toml").write_text("second_sources = ['/dev/no-such-device']")
    shown = await refused_start(
        "--data-dir", str(tmp_path / "data"), "--config", str(tmp_path / "server.toml")
    )
    assert "no-such-device" in shown
    assert "Traceback" not in shown
