"""The processes of a run, each its own: a game server, an echo server, a load generator."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path

import grpc

from tests.bench.load import Order, Played, Seat

START_S = 30.0
STOP_S = 30.0
POLL_S = 0.005
OPTIONS = ("--bare", "--listen", "127.0.0.1:0", "--http-listen", "127.0.0.1:0")


class BenchBroken(Exception):
    """A process did not start, or ended."""


class Measured:
    """A running process whose CPU time and memory can be read."""

    def __init__(self, process: "subprocess.Popen[str]", address: str) -> None:
        """Takes a process that listens at `address`."""
        self._process = process
        self.address = address

    def cpu_s(self) -> float:
        """Returns user and system time of all its threads so far.

        Source: clock_getcpuclockid(3); Linux forms the clock's id from the process id like this.
        """
        return time.clock_gettime((~self._process.pid << 3) | 2)

    def rss_mib(self) -> float:
        """Returns its resident memory."""
        status = Path(f"/proc/{self._process.pid}/status").read_text("ascii")
        line = next(line for line in status.splitlines() if line.startswith("VmRSS:"))
        return int(line.split()[1]) / 1024


def _spawn(*command: str, log: Path) -> "subprocess.Popen[str]":
    """Starts a process of this interpreter; what it logs goes to a file."""
    with log.open("a", encoding="utf-8") as errors:
        return subprocess.Popen(
            [sys.executable, "-m", *command],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )


def _end(process: "subprocess.Popen[str]") -> None:
    process.terminate()
    try:
        process.communicate(timeout=STOP_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()


@contextmanager
def game_server(data_dir: Path, *options: str) -> Iterator[Measured]:
    """Runs a bare server on a data directory; ready when it has announced where it listens.

    Raises:
        BenchBroken: it does not start.
    """
    log = data_dir.with_suffix(".log")
    command = [sys.executable, "-m", "sealedshoe_server", "serve", "--data-dir", str(data_dir)]
    with log.open("a", encoding="utf-8") as output:
        process = subprocess.Popen(
            [*command, *OPTIONS, *options],
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=output,
            text=True,
        )
    try:
        yield Measured(process, _announced(process, data_dir / "server.json", log))
    finally:
        _end(process)


def _announced(process: "subprocess.Popen[str]", file: Path, log: Path) -> str:
    until = time.monotonic() + START_S
    while time.monotonic() < until and process.poll() is None:
        if file.exists():
            found: dict[str, str] = json.loads(file.read_text("utf-8"))
            if found["pid"] == str(process.pid):
                return found["grpc"]
        time.sleep(POLL_S)
    raise BenchBroken(f"the server did not start: {log.read_text('utf-8')[-2000:]}")


@contextmanager
def echo_server(answer: bytes, scratch: Path) -> Iterator[Measured]:
    """Runs the echo server.

    Raises:
        BenchBroken: it does not start.
    """
    recorded, log = scratch / "answer", scratch / "echo.log"
    recorded.write_bytes(answer)
    process = _spawn("tests.bench.echo", str(recorded), log=log)
    try:
        yield Measured(process, _line(process, log).strip())
    finally:
        _end(process)


class LoadGenerator:
    """The load process: one order at a time."""

    def __init__(self, process: "subprocess.Popen[str]", log: Path) -> None:
        """Takes the process and the file it logs to."""
        self._process = process
        self._log = log

    def play(self, order: Order) -> Played:
        """Runs an order.

        Raises:
            BenchBroken: a call failed; the load process has said why.
        """
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(asdict(order)) + "\n")
        self._process.stdin.flush()
        values = json.loads(_line(self._process, self._log))
        seats = [Seat(**seat) for seat in values.pop("seats")]
        return Played(seats=seats, **values)


@contextmanager
def load_generator(scratch: Path) -> Iterator[LoadGenerator]:
    """Runs the load process."""
    log = scratch / "load.log"
    process = _spawn("tests.bench.load", log=log)
    try:
        yield LoadGenerator(process, log)
    finally:
        _end(process)


def _line(process: "subprocess.Popen[str]", log: Path) -> str:
    assert process.stdout is not None
    line = process.stdout.readline()
    if not line:
        raise BenchBroken(f"a process ended: {log.read_text('utf-8')[-2000:]}")
    return line


def channel(server: Measured) -> grpc.Channel:
    """Returns a channel of the usual client, for all that is not measured."""
    return grpc.insecure_channel(server.address)
