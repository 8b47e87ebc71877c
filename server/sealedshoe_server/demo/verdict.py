"""A stranger's verdict: `sealedshoe-audit` as a separate process, on files alone."""

import json
import subprocess
import sys
from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

AUDIT = (sys.executable, "-m", "sealedshoe_audit.cli")
AT_ONCE = 4


def audit(arguments: Sequence[str]) -> dict[str, Any]:
    """Runs one verification and returns its JSON; the exit code must agree with the verdict."""
    done = subprocess.run([*AUDIT, *arguments, "--json"], stdout=subprocess.PIPE, check=False)
    report: dict[str, Any] = json.loads(done.stdout)
    if (done.returncode == 0) != (report["verdict"] == "valid"):
        raise RuntimeError(f"exit code {done.returncode} for a verdict of {report['verdict']}")
    return report


def audit_files(files: Iterable[tuple[Path, Path | None]], trust: Path) -> list[dict[str, Any]]:
    """Verifies evidence files, each with its receipt if there is one, a few at a time."""

    def verify(pair: tuple[Path, Path | None]) -> dict[str, Any]:
        evidence, receipt = pair
        options = ["--receipt", str(receipt)] if receipt is not None else []
        return audit(["verify", str(evidence), "--trust", str(trust), *options])

    with ThreadPoolExecutor(AT_ONCE) as pool:
        return list(pool.map(verify, files))
