"""`sealedshoe serve` as a process of its own, to be watched, limited, ended and killed."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

START_TIMEOUT_S = 30.0


@dataclass
class ServerProcess:
    """A running process.

    Attributes:
        addresses: where it listens.
        shown: collects what it writes to stdout and stderr.
    """

    process: Process
    addresses: dict[str, str]
    shown: "asyncio.Task[tuple[bytes, bytes]]"

    async def output(self) -> bytes:
        """All that it ever wrote; waits for its end."""
        return b"".join(await self.shown)


@asynccontextmanager
async def server_process(data_dir: Path, *options: str) -> AsyncIterator[ServerProcess]:
    """Starts a server on free loopback ports; it is killed at the end if it still runs."""
    command = [sys.executable, "-m", "sealedshoe_server", "serve", "--data-dir", str(data_dir)]
    command += ["--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0", *options]
    process = await asyncio.create_subprocess_exec(*command, stdout=PIPE, stderr=PIPE)
    shown = asyncio.create_task(process.communicate())
    try:
        async with asyncio.timeout(START_TIMEOUT_S):
            addresses = await _addresses(data_dir, process)
        yield ServerProcess(process, addresses, shown)
    finally:
        if process.returncode is None:
            process.kill()
        await shown


async def _addresses(data_dir: Path, process: Process) -> dict[str, str]:
    while process.returncode is None:
        file = data_dir / "server.json"
        if file.exists():
            found: dict[str, str] = json.loads(file.read_text("utf-8"))
            if found["pid"] == str(process.pid):
                return found
        await asyncio.sleep(0.02)
    raise RuntimeError("the server ended before it served")
