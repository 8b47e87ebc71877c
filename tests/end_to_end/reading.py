"""Reads a running server's log as an auditor does."""

import grpc

from sealedshoe_audit.log.checkpoint import Checkpoint, verify_checkpoint
from sealedshoe_audit.log.merkle import Frontier, leaf_hash
from sealedshoe_audit.trust import Trust
from sealedshoe_server.v1 import audit_service_pb2 as pb
from sealedshoe_server.v1.audit_service_pb2_grpc import AuditServiceStub

TIMEOUT_S = 60.0


def read_log(address: str, trust: Trust) -> tuple[Checkpoint, list[bytes]]:
    """Returns the verified head and all leaves below it, whose root it must be."""
    with grpc.insecure_channel(address) as channel:
        stub = AuditServiceStub(channel)
        note = stub.GetCheckpoint(pb.GetCheckpointRequest(), timeout=TIMEOUT_S).checkpoint
        head = verify_checkpoint(note, trust).checkpoint
        leaves: list[bytes] = []
        request = pb.ReadRecordsRequest(limit=head.size)
        for answer in stub.ReadRecords(request, timeout=TIMEOUT_S):
            leaves += answer.envelopes
    frontier = Frontier()
    for leaf in leaves:
        frontier.append(leaf_hash(leaf))
    assert (frontier.size, frontier.root()) == (head.size, head.root)
    return head, leaves
