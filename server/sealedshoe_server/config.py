"""Settings: one TOML file, parsed once into a frozen object. Unknown keys are refused."""

import ipaddress
import math
import tomllib
from dataclasses import dataclass, fields
from pathlib import Path
from typing import cast

from sealedshoe_audit.log.checkpoint import is_origin

MAX_WAIT_S = 3600.0


class ConfigError(Exception):
    """A setting is unknown, of the wrong type, or makes no sense."""


@dataclass(frozen=True, slots=True)
class Config:
    """Everything that can be set. Secrets are paths, never values.

    Attributes:
        data_dir: all state; its keys/ subdirectory holds the key files.
        origin: name of the log; a schema-less URL under your control.
        listen: address and port of GameService; beyond loopback only with the three tls_ paths.
        local_listen: loopback address and port of the operator and audit services; when `listen` is
            loopback too, one server serves all and this is not used.
        http_listen: loopback address and port of /metrics, /healthz and /log.
        tls_certificate, tls_key, tls_client_ca: PEM files for mutual TLS; all or none.
        second_sources: character devices mixed into the RNG beside getrandom.
        guard: file with the newest head, outside the data directory; "" is <data_dir>.guard.
        heads: archive of every signed and cosigned head; "" is <data_dir>.heads.
        witness_policy: tlog-policy file with witnesses, their URLs and the quorum; "" asks no witnesses.
        witness_timeout_s: how long a witness may take to answer.
        cosign_every_s: cosignatures are renewed so often even when the log does not grow.
        cosigning_lag_s, cosigning_lag_rounds: a table takes no wagers while cosignatures lag so far behind.
        tsa_url: RFC 3161 time stamp authority; "" asks none.
        tsa_root: PEM file with its root certificate; stamps are checked before they are recorded.
        stamp_every_s: rhythm of time stamps; new shoes of several rounds get one besides.
        answers_kept_days: how long a retry gets its answer's bytes; after that, a pointer to the round.
        default_deadline_s: for calls that bring none.
        drain_s: time between turning health to NOT_SERVING and refusing calls, so that balancers notice.
        grace_s: how long calls under way may take at shutdown.
        max_message_bytes: largest request.
        watch_buffer: records a WatchTable reader may lag behind before it is ended.
        log_level: debug, info, warning or error.
    """

    data_dir: Path = Path("data")
    origin: str = "localhost/sealedshoe"
    listen: str = "127.0.0.1:7440"
    local_listen: str = "127.0.0.1:7441"
    http_listen: str = "127.0.0.1:7442"
    tls_certificate: str = ""
    tls_key: str = ""
    tls_client_ca: str = ""
    second_sources: tuple[str, ...] = ()
    guard: str = ""
    heads: str = ""
    witness_policy: str = ""
    witness_timeout_s: float = 5.0
    cosign_every_s: float = 60.0
    cosigning_lag_s: float = 30.0
    cosigning_lag_rounds: int = 1000
    tsa_url: str = ""
    tsa_root: str = ""
    stamp_every_s: float = 3600.0
    answers_kept_days: int = 30
    default_deadline_s: float = 10.0
    drain_s: float = 0.0
    grace_s: float = 10.0
    max_message_bytes: int = 65_536
    watch_buffer: int = 1024
    log_level: str = "info"

    @property
    def guard_path(self) -> Path:
        """Where the guard lies."""
        return Path(self.guard or f"{self.data_dir}.guard")

    @property
    def heads_path(self) -> Path:
        """Where the heads archive lies."""
        return Path(self.heads or f"{self.data_dir}.heads")

    @property
    def is_public(self) -> bool:
        """Whether `listen` goes beyond loopback."""
        return not _is_loopback(self.listen)


def load_config(path: Path | None, overrides: dict[str, object]) -> Config:
    """Reads the file, lets command line options override it, and checks the whole.

    Raises:
        ConfigError: naming the setting.
    """
    values: dict[str, object] = {}
    if path is not None:
        try:
            values = tomllib.loads(path.read_text("utf-8"))
        except (OSError, ValueError) as error:
            raise ConfigError(f"{path}: {error}") from error
    values |= overrides
    defaults = Config()
    known = {field.name for field in fields(Config)}
    for name in values:
        if name not in known:
            raise ConfigError(f"{name}: unknown setting")
    typed = {name: _typed(name, value, getattr(defaults, name)) for name, value in values.items()}
    config = Config(**typed)  # type: ignore[arg-type] # each value was typed like its default
    _check(config)
    return config


def _typed(name: str, value: object, default: object) -> object:
    """A setting has the type of its default; paths come as strings, tuples as arrays of strings."""
    kind: type[object] = default.__class__
    given: type[object] = value.__class__
    if isinstance(default, Path) and isinstance(value, str | Path):
        return Path(value)
    if kind is tuple and given is list:
        items = cast("list[object]", value)
        if all(isinstance(item, str) for item in items):
            return tuple(items)
    if kind is float and given in (int, float):
        return float(cast("float", value))
    if given is kind and given in (str, int):
        return value
    raise ConfigError(f"{name}: must be of type {kind.__name__}")


def _check(config: Config) -> None:
    if not is_origin(config.origin):
        raise ConfigError("origin: must be 1 to 100 bytes without spaces and plus signs")
    _check_addresses(config)
    _check_files(config)
    _check_numbers(config)
    if config.log_level not in ("debug", "info", "warning", "error"):
        raise ConfigError("log_level: must be debug, info, warning or error")


def _check_addresses(config: Config) -> None:
    for name in ("local_listen", "http_listen"):
        if not _is_loopback(getattr(config, name)):
            raise ConfigError(f"{name}: must be a loopback address such as 127.0.0.1:7441")
    tls = (config.tls_certificate, config.tls_key, config.tls_client_ca)
    if any(tls) and not all(tls):
        raise ConfigError("tls_certificate, tls_key and tls_client_ca go together")
    if config.is_public and not all(tls):
        raise ConfigError("listen: beyond loopback only with mutual TLS (the three tls_ settings)")


def _check_files(config: Config) -> None:
    for name in ("guard", "heads"):
        path: Path = getattr(config, f"{name}_path").absolute()
        if path.is_relative_to(config.data_dir.absolute()):
            raise ConfigError(f"{name}: must lie outside the data directory")
    if bool(config.tsa_url) != bool(config.tsa_root):
        raise ConfigError("tsa_url and tsa_root go together")


def _check_numbers(config: Config) -> None:
    positive = (
        "answers_kept_days",
        "default_deadline_s",
        "max_message_bytes",
        "watch_buffer",
        "witness_timeout_s",
        "cosign_every_s",
        "cosigning_lag_s",
        "cosigning_lag_rounds",
        "stamp_every_s",
    )
    for name in positive:
        if not 0 < getattr(config, name) < math.inf:
            raise ConfigError(f"{name}: must be above 0")
    for name in ("grace_s", "drain_s"):
        if not 0 <= getattr(config, name) <= MAX_WAIT_S:
            raise ConfigError(f"{name}: must be 0 to {MAX_WAIT_S:.0f}")


def _is_loopback(address: str) -> bool:
    host, _, port = address.rpartition(":")
    if not port.isdigit() or int(port) > 65_535:
        raise ConfigError(f"{address}: must be ADDRESS:PORT")
    if host == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False
