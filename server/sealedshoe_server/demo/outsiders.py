"""A mirror and a witness as a regulator runs them: other people's processes."""

import subprocess
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from sealedshoe_audit.log.checkpoint import parse_checkpoint
from sealedshoe_audit.log.note import parse_note
from sealedshoe_audit.log.reader import LogSource
from sealedshoe_audit.log.tile_hashes import TileHashes
from sealedshoe_audit.log.witness_request import WitnessRequest
from sealedshoe_server.demo.process import ServerDied, ServerProcess
from sealedshoe_server.demo.verdict import AUDIT, audit

START_TIMEOUT_S = 30.0
POLL_S = 0.05


@dataclass(frozen=True, slots=True)
class MirrorRun:
    """One look of a mirror at a log."""

    caught: bool
    text: str

    @classmethod
    def look(cls, source: str, directory: Path, trust: Path) -> "MirrorRun":
        """Runs `sealedshoe-audit mirror`; a fork or a rollback is what it is there to catch."""
        report = audit(["mirror", source, str(directory), "--trust", str(trust)])
        if report["verdict"] == "valid":
            return cls(False, report["checked"][0])
        finding = report["findings"][0]
        text = f"{finding['code']}: expected {finding['expected']}, found {finding['found']}"
        return cls(finding["code"] in ("SPLIT_VIEW", "ROLLBACK"), text)


class WitnessProcess:
    """`sealedshoe-audit witness` on a loopback port."""

    def __init__(self, directory: Path, name: str) -> None:
        """Names it; nothing runs yet."""
        self._directory = directory
        self._name = name
        self._process: subprocess.Popen[str] | None = None
        self._origin = ""
        self.vkey = ""
        self.url = ""

    def start(self, log_vkey: str) -> None:
        """Starts it for one log, and waits until it listens.

        Raises:
            ServerDied: it does not.
        """
        self._origin = log_vkey.split("+", 1)[0]
        command = [*AUDIT, "witness", str(self._directory), "--name", self._name]
        command += ["--log", log_vkey, "--listen", "127.0.0.1:0"]
        self._process = subprocess.Popen(
            command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
        )
        if self._process.stdout is None or self._process.stderr is None:
            raise ServerDied("the witness has no output")
        self.vkey = self._process.stdout.readline().strip()
        line = self._process.stderr.readline()
        if "http" not in line:
            raise ServerDied(f"the witness did not start: {line}")
        self.url = "http" + line.split("http", 1)[1].split()[0].rstrip("=) ")

    def _get(self) -> bytes:
        url = f"{self.url}/{sha256(self._origin.encode()).hexdigest()}/checkpoint"
        with urllib.request.urlopen(url, timeout=10) as answer:
            note: bytes = answer.read()
        return note

    def size(self) -> int:
        """Returns the size of the head it cosigned last; 0 for none."""
        try:
            return parse_checkpoint(parse_note(self._get()).text).size
        except urllib.error.HTTPError:
            return 0

    def wait_for(self, server: ServerProcess) -> None:
        """Waits until it has cosigned all that the server has released.

        Raises:
            ServerDied: it does not get there.
        """
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            with urllib.request.urlopen(
                f"http://{server.addresses['http']}/metrics", timeout=10
            ) as answer:
                lines = answer.read().decode().splitlines()
            released = next(line for line in lines if line.startswith("sealedshoe_log_size "))
            if self.size() >= float(released.split()[1]):
                return
            time.sleep(POLL_S)
        raise ServerDied("the witness does not follow")

    def submit(self, log: LogSource) -> tuple[int, str]:
        """Asks it to cosign a log's head, with the best proof there is; returns status and text."""
        note = log.read("checkpoint") or b""
        size = parse_checkpoint(parse_note(note).text).size
        old = min(self.size(), size)
        proof = tuple(TileHashes(log, size).consistency_proof(old))
        body = WitnessRequest(old, proof, note).data()
        request = urllib.request.Request(f"{self.url}/add-checkpoint", data=body)
        try:
            with urllib.request.urlopen(request, timeout=10) as answer:
                return answer.status, answer.read().decode().strip()
        except urllib.error.HTTPError as error:
            with error:
                return error.code, error.read().decode().strip()

    def stop(self) -> None:
        """Ends it."""
        if self._process is not None:
            self._process.terminate()
            self._process.communicate()
