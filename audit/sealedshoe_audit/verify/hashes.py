"""The hashes of a published log alone: entries, tiles, root, head. No record is opened."""

from collections.abc import Callable

from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.checkpoint import expect_root
from sealedshoe_audit.log.merkle import Frontier, leaf_hash
from sealedshoe_audit.log.reader import LogSource, TileCheck, read_bundles, read_head
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.verify.report import Finding, Report, head_facts


def verify_hashes(source: LogSource, trust: Trust, progress: Callable[[int, int], None]) -> Report:
    """Returns whether a log's entries, tiles and checkpoint are of one tree.

    Args:
        progress: called with (entries done, entries in all).
    """
    report = Report()
    try:
        _, head = read_head(source, trust)
        checkpoint = head.checkpoint
        report.facts |= head_facts(head)
        frontier, tiles = Frontier(), TileCheck(source)
        for entries in read_bundles(source, checkpoint.size):
            for entry in entries:
                for level, _, node in frontier.append(leaf_hash(entry)):
                    tiles.completed(level, node)
            progress(frontier.size, checkpoint.size)
        tiles.finish()
        expect_root(checkpoint, frontier.root())
        report.checked.append(
            f"{checkpoint.size} entries, {tiles.compared} tiles and the root of the checkpoint"
        )
    except VerificationError as error:
        report.findings.append(Finding.of(error, "log"))
    report.not_checked.append("what the records say: signatures, rules, shoes")
    return report
