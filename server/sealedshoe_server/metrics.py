"""What Prometheus sees. Own registry; children of the hot path are resolved once and kept."""

from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram

_LATENCY_S = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
_GROUP = (1, 2, 4, 8, 16, 32, 64, 128, 256)


class Metrics:
    """Every metric of a process."""

    def __init__(self) -> None:
        """Registers all of them."""
        registry = self.registry = CollectorRegistry()
        self.rounds = Counter(
            "sealedshoe_rounds_total", "Rounds dealt", ("game", "outcome"), registry=registry
        )
        self.wagers = Counter(
            "sealedshoe_wagers_total", "Wagers settled", ("game", "result"), registry=registry
        )
        self.voided = Counter(
            "sealedshoe_rounds_voided_total", "Rounds voided", ("cause",), registry=registry
        )
        self.shoes = Counter("sealedshoe_shoes_total", "Shoes opened", ("game",), registry=registry)
        self.calls = Counter(
            "sealedshoe_calls_total", "Calls ended", ("method", "code"), registry=registry
        )
        self.latency = Histogram(
            "sealedshoe_call_seconds",
            "Time in the server",
            ("method",),
            buckets=_LATENCY_S,
            registry=registry,
        )
        self.refusals = Counter(
            "sealedshoe_refusals_total", "Refused calls", ("method", "reason"), registry=registry
        )
        self.rejected_wagers = Counter(
            "sealedshoe_rejected_wagers_total", "Wagers refused", ("reason",), registry=registry
        )
        self.replays = Counter(
            "sealedshoe_request_id_replays_total",
            "Retries answered from the store",
            registry=registry,
        )
        self.group_size = Histogram(
            "sealedshoe_group_size", "Batches in a commit", buckets=_GROUP, registry=registry
        )
        self.commit_time = Histogram(
            "sealedshoe_commit_seconds", "Time of a commit", buckets=_LATENCY_S, registry=registry
        )
        self.log_size = Gauge("sealedshoe_log_size", "Leaves of the log", registry=registry)
        self.checkpoint_age = Gauge(
            "sealedshoe_checkpoint_age_seconds", "Age of the newest checkpoint", registry=registry
        )
        self.rng_healthy = Gauge(
            "sealedshoe_rng_healthy", "1 while new shoes can be made", registry=registry
        )
        self.log_writable = Gauge(
            "sealedshoe_log_writable", "1 while records can be appended", registry=registry
        )
        self.open_rounds = Gauge("sealedshoe_open_rounds", "Rounds open", registry=registry)
        self.open_tables = Gauge("sealedshoe_open_tables", "Tables not closed", registry=registry)
        self.cosigned_size = Gauge(
            "sealedshoe_cosigned_size", "Size of the newest head under a quorum", registry=registry
        )
        self.cosigning_lag = Gauge(
            "sealedshoe_cosigning_lag_seconds",
            "How long the oldest record without a quorum waits",
            registry=registry,
        )
        self.cosign_time = Histogram(
            "sealedshoe_cosign_seconds",
            "Time from asking the witnesses about a head to its quorum",
            buckets=_LATENCY_S,
            registry=registry,
        )
        self.witness_answers = Counter(
            "sealedshoe_witness_answers_total",
            "Answers of witnesses",
            ("witness", "result"),
            registry=registry,
        )
        self.stamps = Counter(
            "sealedshoe_time_stamps_total", "Time stamps asked for", ("result",), registry=registry
        )
        self.watchers = Gauge("sealedshoe_watchers", "WatchTable streams", registry=registry)
