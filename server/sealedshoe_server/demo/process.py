"""A server as its own process, to be killed and started again."""

import json
import subprocess
import sys
import time
from pathlib import Path

START_TIMEOUT_S = 30.0
POLL_S = 0.02


class ServerDied(Exception):
    """The process ended before it served."""


class ServerProcess:
    """`sealedshoe serve` on a data directory; after the first start it keeps its addresses."""

    def __init__(self, data_dir: Path, log_file: Path, *options: str) -> None:
        """Names the directory; nothing runs yet."""
        self._data_dir = data_dir
        self._log_file = log_file
        self._options = options
        self._process: subprocess.Popen[bytes] | None = None
        self.addresses: dict[str, str] = {}

    def start(self) -> None:
        """Starts the process and waits until it serves.

        Raises:
            ServerDied: it ended, or did not serve in time; its log file says why.
        """
        grpc, http = (self.addresses.get(name, "127.0.0.1:0") for name in ("grpc", "http"))
        command = [sys.executable, "-m", "sealedshoe_server", "serve"]
        command += ["--data-dir", str(self._data_dir), "--listen", grpc, "--http-listen", http]
        with self._log_file.open("ab") as log:
            self._process = subprocess.Popen([*command, *self._options], stderr=log)
        deadline = time.monotonic() + START_TIMEOUT_S
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                break
            if self._serves(self._process.pid):
                return
            time.sleep(POLL_S)
        self.kill()
        raise ServerDied(f"the server did not start; see {self._log_file}")

    def _serves(self, pid: int) -> bool:
        try:
            found = json.loads((self._data_dir / "server.json").read_text("utf-8"))
        except (OSError, ValueError):
            return False
        if int(found["pid"]) != pid:
            return False
        self.addresses = found
        return True

    def kill(self) -> None:
        """SIGKILL, and waits until the process is gone."""
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def stop(self) -> int:
        """SIGTERM; returns the exit code."""
        if self._process is None:
            return 0
        self._process.terminate()
        return self._process.wait()
