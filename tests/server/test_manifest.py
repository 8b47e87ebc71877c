"""The software manifest: one digest over every source file of the three packages."""

from hashlib import sha256
from pathlib import Path

import sealedshoe_audit
import sealedshoe_rng
import sealedshoe_server
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.manifest import manifest_digest, software_manifest
from tests.server.reading import stored_records
from tests.server.running import Running


def test_every_source_file_is_in_it_with_its_digest() -> None:
    """All .py, .sql and .toml files, ascending by path, each once."""
    lines: list[tuple[str, str]] = []
    for package in (sealedshoe_audit, sealedshoe_rng, sealedshoe_server):
        home = Path(package.__file__).parent
        for path in home.rglob("*"):
            if path.suffix in {".py", ".sql", ".toml"}:
                name = f"{home.name}/{path.relative_to(home).as_posix()}"
                lines.append((name, sha256(path.read_bytes()).hexdigest()))
    expected = "".join(f"{digest}  {name}\n" for name, digest in sorted(lines))
    assert software_manifest() == expected
    assert manifest_digest() == sha256(expected.encode()).digest()


async def test_the_log_binds_the_software_that_runs(house: Running) -> None:
    """LogStarted and every start's event carry its digest."""
    first, second = stored_records(house.data_dir)[:2]
    assert isinstance(first, pb.LogStarted)
    assert isinstance(second, pb.EventRecorded)
    digest = sha256(software_manifest().encode())
    assert first.software_manifest == digest.digest()
    assert (second.event_class, second.after) == (
        pb.EventClass.EVENT_CLASS_SERVER_STARTED,
        digest.hexdigest(),
    )
