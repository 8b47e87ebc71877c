"""The command line, run in this process beside a server that runs in it too."""

import asyncio
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from sealedshoe_server.cli.main import main


@dataclass(frozen=True)
class Ran:
    """What a command did: exit code, what it wrote to stdout, and to stderr."""

    code: int
    out: str
    err: str


async def sealedshoe(*arguments: str | Path) -> Ran:
    """Runs one command on a thread of its own, as it waits for the server."""
    words = [str(argument) for argument in arguments]
    done = await asyncio.to_thread(CliRunner().invoke, main, words)
    if done.exception is not None and not isinstance(done.exception, SystemExit):
        raise done.exception
    return Ran(done.exit_code, done.stdout, done.stderr)


async def succeeds(*arguments: str | Path) -> str:
    """Runs one command, which must exit with 0, and returns what it wrote."""
    ran = await sealedshoe(*arguments)
    assert ran.code == 0, ran
    return ran.out


async def fails(*arguments: str | Path) -> str:
    """Runs one command, which must exit with 1, and returns why."""
    ran = await sealedshoe(*arguments)
    assert ran.code == 1, ran
    return ran.err
