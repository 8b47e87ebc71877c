"""Takes over into the kept corpus what a working corpus reaches beyond it: `python -m tests.fuzz.keep all`.

libFuzzer's merge picks inputs that reach a new edge; of these the small ones are kept, within limits.
"""

import argparse
import shutil
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.fuzz.known_faults import passed_over
from tests.fuzz.run import KEPT, MOST_BYTES, WORKING, run_child, targets_of
from tests.fuzz.targets import TARGETS

MOST_FILES = 60  # a target
MOST_KEPT_BYTES = 200_000  # a target


def keep(target: str, working: Path) -> tuple[int, int]:
    """Merges one target; returns (inputs that reach something new, how many of them are kept)."""
    kept = KEPT / target
    with TemporaryDirectory() as folder:
        merged = Path(folder) / target
        shutil.copytree(kept, merged)
        most = f"-max_len={MOST_BYTES.get(target, 8192)}"
        ended = run_child(
            target, "-merge=1", "-use_counters=0", most, str(merged), str(working / target)
        )
        if ended.returncode:
            raise SystemExit(ended.stderr[-3000:])
        fresh = [file for file in merged.iterdir() if not (kept / file.name).exists()]
        fresh.sort(key=lambda file: (file.stat().st_size, file.name))
        return len(fresh), sum(_take(file, kept) for file in fresh)


def _take(file: Path, kept: Path) -> bool:
    try:
        TARGETS[kept.name](file.read_bytes())
    except passed_over(kept.name):
        return False  # each known fault has its own input already
    sizes = [other.stat().st_size for other in kept.iterdir()]
    if len(sizes) >= MOST_FILES or sum(sizes) + file.stat().st_size > MOST_KEPT_BYTES:
        return False
    shutil.copyfile(file, kept / file.name)
    return True


def main() -> int:
    """Merges what the command line names; returns the exit code."""
    parser = argparse.ArgumentParser(prog="python -m tests.fuzz.keep", description=__doc__)
    parser.add_argument("target", help="a target, or all")
    parser.add_argument("--corpus", type=Path, default=WORKING, help="working corpus")
    given = parser.parse_args()
    for target in targets_of(given.target):
        fresh, taken = keep(target, given.corpus.resolve())
        print(f"{target}: {fresh} reach something new, {taken} kept")
    return 0


if __name__ == "__main__":
    sys.exit(main())
