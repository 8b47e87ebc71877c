"""`sealedshoe-audit prove` and `proof`: one record, out of a log and on its own."""

import argparse
from pathlib import Path

from sealedshoe_audit.cli.sources import Unreadable, open_source, read_input
from sealedshoe_audit.errors import VerificationError
from sealedshoe_audit.log.proof_file import ProofFile, parse_proof, verify_proof
from sealedshoe_audit.log.reader import read_head, read_required
from sealedshoe_audit.log.tile_hashes import TileHashes
from sealedshoe_audit.log.tiles import TILE_WIDTH, bundle_path, parse_bundle
from sealedshoe_audit.trust import Trust
from sealedshoe_audit.verify.report import Finding, Report


def run_prove(options: argparse.Namespace, trust: Trust) -> Report:
    """Writes FILE, the proof, and FILE.entry, the record."""
    report = Report()
    try:
        source = open_source(options.log)
        note, head = read_head(source, trust)
        size = head.checkpoint.size
        if not 0 <= options.index < size:
            raise Unreadable(f"--index: the log has {size} records")
        index: int = options.index
        bundle, place = divmod(index, TILE_WIDTH)
        width = min(TILE_WIDTH, size - bundle * TILE_WIDTH)
        entry = parse_bundle(read_required(source, bundle_path(bundle, width)), width)[place]
        path = TileHashes(source, size).inclusion_path(index)
        proof = ProofFile(index, tuple(path), note)
        verify_proof(proof, entry, trust)
        Path(options.output).write_bytes(proof.data())
        Path(f"{options.output}.entry").write_bytes(entry)
        report.checked.append(f"leaf {options.index} is in the log of {size} records")
    except VerificationError as error:
        report.findings.append(Finding.of(error, f"leaf {options.index}"))
    except OSError as error:
        raise Unreadable(f"{options.output}: {error.strerror}") from error
    return report


def run_proof(options: argparse.Namespace, trust: Trust) -> Report:
    """Checks a proof file against its record."""
    report = Report()
    try:
        proof = parse_proof(read_input(options.file))
        head = verify_proof(proof, read_input(options.entry), trust)
        report.facts |= {"index": proof.index, "size": head.checkpoint.size}
        report.checked.append(
            f"the record is leaf {proof.index} of {head.checkpoint.origin}, "
            f"cosigned by {len(head.cosigned)} witnesses"
        )
    except VerificationError as error:
        report.findings.append(Finding.of(error, "proof"))
    report.not_checked.append("what the record says: sealedshoe-audit log checks it")
    return report
