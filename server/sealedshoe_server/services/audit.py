"""AuditService: what regulators and verifiers call."""

from collections.abc import AsyncIterator, Callable

from sealedshoe_audit.log.merkle import consistency_ranges, range_hash
from sealedshoe_server.errors import GameError, Reason
from sealedshoe_server.head_watch import HeadWatch
from sealedshoe_server.log_writer import LogWriter
from sealedshoe_server.rounds import Rounds
from sealedshoe_server.services import requests
from sealedshoe_server.storage.interface import Store, inclusion_path
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit

READ_BATCH = 256
READ_BYTES = 1024 * 1024  # an answer of the stream ends here, below gRPC's 4 MiB


class AuditService:
    """Reads the log and proves it."""

    def __init__(
        self,
        store: Store,
        writer: LogWriter,
        rounds: Rounds,
        heads: HeadWatch,
        newest_note: Callable[[], bytes],
    ) -> None:
        """Takes its collaborators."""
        self._newest_note = newest_note
        self._heads = heads
        self._store = store
        self._writer = writer
        self._rounds = rounds

    async def GetCheckpoint(
        self, _: pb_audit.GetCheckpointRequest
    ) -> pb_audit.GetCheckpointResponse:
        """The newest checkpoint to show: cosigned where witnesses are configured."""
        return pb_audit.GetCheckpointResponse(checkpoint=self._newest_note())

    async def WatchCheckpoints(
        self, request: pb_audit.WatchCheckpointsRequest
    ) -> AsyncIterator[pb_audit.WatchCheckpointsResponse]:
        """Signed and cosigned checkpoints as they are archived, from a size on."""
        after = request.after_size if request.HasField("after_size") else None
        async for checkpoint, cosigned in self._heads.follow(after):
            yield pb_audit.WatchCheckpointsResponse(checkpoint=checkpoint, cosigned=cosigned)

    async def ReadRecords(
        self, request: pb_audit.ReadRecordsRequest
    ) -> AsyncIterator[pb_audit.ReadRecordsResponse]:
        """Leaves in order, to the newest checkpoint as it is now."""
        end = self._size()
        if request.limit:
            end = min(end, request.start + request.limit)
        start = request.start
        while start < end:
            envelopes: list[bytes] = []
            length = 0
            for envelope in self._store.read(start, min(READ_BATCH, end - start)):
                length += len(envelope)
                if envelopes and length > READ_BYTES:
                    break
                envelopes.append(envelope)
            yield pb_audit.ReadRecordsResponse(start=start, envelopes=envelopes)
            start += len(envelopes)

    async def ProveInclusion(
        self, request: pb_audit.ProveInclusionRequest
    ) -> pb_audit.ProveInclusionResponse:
        """The path of a leaf under the tree of a size."""
        size = self._known_size(request.tree_size, "tree_size")
        if request.index >= size:
            raise _unknown_size("index", f"must be below {size}")
        path = inclusion_path(request.index, size, self._store.complete_hash)
        return pb_audit.ProveInclusionResponse(tree_size=size, inclusion_path=path)

    async def ProveConsistency(
        self, request: pb_audit.ProveConsistencyRequest
    ) -> pb_audit.ProveConsistencyResponse:
        """That the larger tree begins with the smaller."""
        new = self._known_size(request.new_size, "new_size")
        if request.old_size > new:
            raise _unknown_size("old_size", f"must be at most {new}")
        hashes = [
            range_hash(low, high, self._store.complete_hash)
            for low, high in consistency_ranges(request.old_size, new)
        ]
        return pb_audit.ProveConsistencyResponse(new_size=new, hashes=hashes)

    async def GetEvidence(
        self, request: pb_audit.GetEvidenceRequest
    ) -> pb_audit.GetEvidenceResponse:
        """The bytes of one round's evidence file."""
        table, number = requests.round_id(request.round, "round")
        evidence = await self._rounds.evidence(table, number, request.player)
        return pb_audit.GetEvidenceResponse(evidence=evidence)

    def _size(self) -> int:
        return self._writer.published.head.head.size

    def _known_size(self, asked: int, field: str) -> int:
        size = self._size()
        if asked > size:
            raise _unknown_size(field, f"must be at most {size}, the newest checkpoint's")
        return asked or size


def _unknown_size(field: str, problem: str) -> GameError:
    return GameError(Reason.TREE_SIZE_UNKNOWN, f"{field}: {problem}", fields=[(field, problem)])
