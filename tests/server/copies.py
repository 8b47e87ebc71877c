"""Copies of data directories: as a backup takes them, as a crash leaves them, and put back again."""

import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

from sealedshoe_rng import OsSource
from sealedshoe_server.config import Config
from sealedshoe_server.server import Server


def back_up(data_dir: Path, copy: Path) -> Path:
    """Copies a data directory, also of a running server: the log as it is committed, and the keys."""
    copy.mkdir(parents=True)
    with (
        closing(sqlite3.connect(data_dir / "log.db")) as db,
        closing(sqlite3.connect(copy / "log.db")) as target,
    ):
        db.backup(target)
    shutil.copytree(data_dir / "keys", copy / "keys")
    for name in ("trust.json", "vkey"):
        shutil.copy(data_dir / name, copy / name)
    return copy


def put_back(copy: Path, data_dir: Path, *, keys: bool = True) -> None:
    """Replaces a stopped server's log by a copy, and its keys too unless told otherwise."""
    for piece in data_dir.glob("log.db*"):
        piece.unlink()
    shutil.copy(copy / "log.db", data_dir / "log.db")
    if keys:
        shutil.rmtree(data_dir / "keys")
        shutil.copytree(copy / "keys", data_dir / "keys")


def crash_image(config: Config, name: str) -> Config:
    """Copies everything of a running server as it lies on its disk now: what a crash would leave."""
    root = config.data_dir.parent / name
    back_up(config.data_dir, root)
    for path, copy in ((config.guard_path, f"{root}.guard"), (config.heads_path, f"{root}.heads")):
        shutil.copy(path, copy)
    return config_of(root)


def config_of(data_dir: Path, **settings: str) -> Config:
    """Settings on free loopback ports."""
    given = {"listen": "127.0.0.1:0", "local_listen": "127.0.0.1:0", "http_listen": "127.0.0.1:0"}
    return Config(data_dir=data_dir, grace_s=2.0, **(given | settings))


def server_on(config: Config) -> Server:
    """A server that is not started."""
    return Server(config, OsSource(), bare=True, boot_id="test")
