"""Nothing secret leaves a real server before its time: every byte that it sends or writes is searched."""

import asyncio
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

import grpc
import pytest
from grpc.aio import Metadata

from sealedshoe_audit.framing import shoe_identity
from sealedshoe_audit.records import open_record
from sealedshoe_audit.shoe.commitment import build_shoe
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_rng import CertifiedRng, OsSource
from sealedshoe_server.dealing.draft import NewShoe
from sealedshoe_server.dealing.wagers import Offer
from sealedshoe_server.keys import load_keys, make_keys
from sealedshoe_server.storage.sqlite import SqliteStore
from sealedshoe_server.v1 import audit_service_pb2 as pb_audit
from sealedshoe_server.v1 import game_service_pb2 as pb_game
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from tests.server.entropy import SteeredSource
from tests.server.games import game_text
from tests.server.process import server_process
from tests.server.reading import stored_entries
from tests.server.running import LIMITS, _get

ORIGIN = "localhost/sealedshoe"


@dataclass
class Eavesdropper:
    """A client that keeps every byte it is sent, in order.

    Attributes:
        heard: (size of the log when it was sent, bytes).
    """

    channel: grpc.aio.Channel
    http: str
    heard: list[tuple[int, bytes]] = field(default_factory=list)
    size: int = 0

    async def call(self, service: str, method: str, request: Any) -> bytes:
        """One unary call; errors are kept with their details and metadata."""
        path = f"/sealedshoe_server.v1.{service}/{method}"
        call = self.channel.unary_unary(path)(request.SerializeToString())
        (answer,) = await asyncio.gather(call, return_exceptions=True)
        if isinstance(answer, grpc.aio.AioRpcError):
            trailing: Metadata = answer.trailing_metadata()
            kept = [f"{answer.details()}".encode()]
            kept += [v if isinstance(v, bytes) else v.encode() for _, v in trailing]
            self.heard.append((self.size, b"\n".join(kept)))
            return b""
        self.heard.append((self.size, answer))
        return bytes(answer)

    async def get(self, path: str) -> None:
        """One HTTP request, with headers."""
        status, headers, body = await asyncio.to_thread(_get, f"http://{self.http}{path}")
        self.heard.append((self.size, f"{status} {headers}".encode() + body))

    async def deal(self, table: str, number: int) -> pb_game.DealtRound:
        """One round, with all that a front-end might ask on the way."""
        get = pb_game.GetTableRequest(name=f"tables/{table}")
        opened = pb_game.GetTableResponse.FromString(
            await self.call("GameService", "GetTable", get)
        ).round
        wager = pb_game.NewWager(wager_id=f"w{number}", spot="player", stake=100, player="alice")
        request = pb_game.DealRoundRequest(
            request_id=f"{table}-{number}",
            round=opened.name,
            opening_hash=bytes(32),
            wagers=[wager],
        )
        await self.call("GameService", "DealRound", request)
        await self.call("GameService", "GetRound", pb_game.GetRoundRequest(name=opened.name))
        evidence = pb_audit.GetEvidenceRequest(round=opened.name)
        await self.call("AuditService", "GetEvidence", evidence)
        request.opening_hash = opened.opening_hash
        answer = await self.call("GameService", "DealRound", request)
        dealt = pb_game.DealRoundResponse.FromString(answer).round
        self.size = dealt.result.index + 2
        self.heard[-1] = (self.size, answer)
        await self.call("AuditService", "GetEvidence", evidence)
        return dealt

    async def look_around(self) -> None:
        """Reads what else there is to read."""
        for path in ("/metrics", "/healthz", "/log/checkpoint", "/log/trust.json"):
            await self.get(path)
        for level in ("0", "1", "entries"):
            for width in range(1, 256, 17):
                await self.get(f"/log/tile/{level}/000.p/{width}")
        for name in ("keys/root.pem", "log.db", "log/../../log.db", "log/tile/../../log.db"):
            await self.get(f"/{name}")
        await self.call("GameService", "ListTables", pb_game.ListTablesRequest())
        await self.call("GameService", "ListGames", pb_game.ListGamesRequest())
        await self.call("GameService", "ListRounds", pb_game.ListRoundsRequest(parent="tables/-"))
        await self.call("OperatorService", "GetStatus", pb_op.GetStatusRequest())


async def furnish(ear: Eavesdropper) -> None:
    """A multi-round table "long" and an every-round table "quick"."""
    for table, game in (("long", "shoe-6d"), ("quick", "punto-banco-6d")):
        text = game_text(game)
        install = pb_op.InstallGameRequest(request_id=f"install-{game}", definition_toml=text)
        await ear.call("OperatorService", "InstallGame", install)
        settings = pb.TableSettings(game_id=game, game_version=1)
        for name, value in LIMITS.items():
            setattr(settings.limits, name, value)
        create = pb_op.CreateTableRequest(
            request_id=f"create-{table}", table_id=table, settings=settings
        )
        await ear.call("OperatorService", "CreateTable", create)


@dataclass
class Secret:
    """Bytes that may be seen only by whoever has a log of at least this size."""

    name: str
    data: bytes
    from_size: int


def shoes_secrets(data_dir: Path) -> list[Secret]:
    """Seeds, and every card's salt, with the leaf from which on they are public."""
    records = [open_record(entry) for entry in stored_entries(data_dir)]
    openings: dict[bytes, tuple[str, pb.ShoeOpening]] = {}
    shown: dict[bytes, int] = {}
    found: list[Secret] = []
    for index, record in enumerate(records):
        if isinstance(record, pb.RoundOpened) and record.HasField("shoe"):
            openings[record.shoe.seed_commitment] = (record.link.table, record.shoe)
        if isinstance(record, pb.RoundDealt):
            shown |= {card.salt: index for card in record.cards}
        if isinstance(record, pb.RoundDealt | pb.ShoeRetired) and record.closing.seed:
            seed = record.closing.seed
            commitment = sha256(b"sealedshoe/v1/seed\x00" + seed).digest()
            table, opening = openings[commitment]
            found.append(Secret(f"seed of {table}", seed, index))
            found += _salts(table, opening, seed, index, shown)
    return found


def _salts(
    table: str, opening: pb.ShoeOpening, seed: bytes, closed: int, shown: dict[bytes, int]
) -> list[Secret]:
    decks = opening.cards // 52
    identity = shoe_identity(ORIGIN, table, opening.shoe_number, decks)
    shoe = build_shoe(seed, identity, decks, opening.reach)
    salts = [shoe.salts[i : i + 16] for i in range(0, len(shoe.salts), 16)]
    return [Secret(f"salt of {table}", salt, shown.get(salt, closed)) for salt in salts]


def lasting_secrets(data_dir: Path) -> list[Secret]:
    """Keys in every form, sealed seeds, players' salts that no evidence opened."""
    never = 2**62
    found = []
    keys = load_keys(data_dir / "keys")
    raw = [keys.statement.private_bytes_raw(), keys.checkpoint.private_bytes_raw(), keys.sealing]
    for data in raw:
        found += [Secret("key", form, never) for form in (data, data.hex().encode())]
    for path in (data_dir / "keys").glob("*.pem"):
        found.append(Secret(path.name, path.read_bytes().splitlines()[1], never))
    store = SqliteStore(data_dir / "log.db", ORIGIN)
    for entry in stored_entries(data_dir):
        record = open_record(entry)
        if isinstance(record, pb.RoundOpened) and record.HasField("shoe"):
            sealed = store.sealed_seed(record.shoe.seed_commitment)
            assert sealed is not None
            found.append(Secret("sealed seed", sealed[:48], never))
            found.append(Secret("sealed seed", sealed[-48:], never))
    store.close()
    return found


def assert_kept(secrets: list[Secret], heard: list[tuple[int, bytes]]) -> None:
    """No secret, and no 16-byte piece of a seed, was heard before its time."""
    for secret in secrets:
        pieces = [secret.data]
        if len(secret.data) > 100:
            pieces = [secret.data[i : i + 16] for i in range(0, len(secret.data) - 15, 112)]
        early = b"".join(data for size, data in heard if size <= secret.from_size)
        for piece in pieces:
            for form in (piece, piece.hex().encode(), repr(piece)[2:-1].encode()):
                assert form not in early, secret.name


async def test_no_secret_leaves_before_its_time(tmp_path: Path) -> None:
    """A whole six-deck shoe and ten shoes of a round: answers, errors, files, logs at debug level."""
    data = tmp_path / "data"
    settings = tmp_path / "server.toml"
    settings.write_text('log_level = "debug"\n')
    async with (
        server_process(data, "--bare", "--config", str(settings)) as server,
        grpc.aio.insecure_channel(server.addresses["grpc"]) as channel,
    ):
        ear = Eavesdropper(channel, server.addresses["http"])
        await furnish(ear)
        for number in range(10):
            await ear.deal("quick", number)
        await ear.look_around()
        shoe_ended = False
        for number in range(80):
            dealt = await ear.deal("long", number)
            if number % 20 == 0:
                await ear.look_around()
            record = open_record(dealt.result.envelope)
            assert isinstance(record, pb.RoundDealt)
            if record.HasField("closing"):
                shoe_ended = True
                break
        await ear.look_around()
        server.process.terminate()
        output = await server.output()
    assert shoe_ended
    secrets = shoes_secrets(data)
    assert len([s for s in secrets if s.name == "seed of quick"]) == 10
    assert len([s for s in secrets if s.name == "salt of long"]) == 312
    everything = [*ear.heard, (0, output)]
    assert_kept(secrets, everything)
    assert_kept(lasting_secrets(data), everything)
    assert len(everything) > 500


def test_the_search_finds_what_it_looks_for() -> None:
    """Its own negative control: each form of a secret, and only before its time."""
    secret = Secret("seed", bytes(range(200)), 5)
    for form in (secret.data, secret.data.hex().encode(), repr(secret.data).encode()):
        with pytest.raises(AssertionError):
            assert_kept([secret], [(5, b"x" + form)])
        assert_kept([secret], [(6, b"x" + form)])


def test_nothing_that_holds_a_secret_shows_it(tmp_path: Path) -> None:
    """repr and str of shoes, draws, keys, offers and the generator itself."""
    rng = CertifiedRng(SteeredSource(), [], "boot")
    drawn = rng.draw_seed(b"shoe", 6, bytes(32))
    shoe = build_shoe(drawn.seed, b"shoe", 6, 312)
    make_keys(tmp_path / "keys", OsSource().read)
    keys = load_keys(tmp_path / "keys")
    offer = Offer("w", "player", 100, "alice-the-player", b"0123456789abcdef")
    holders = [rng, drawn, shoe, NewShoe(shoe, pb.ShoeOpening(), b"sealed-blob"), keys, offer]
    shown = "".join(f"{holder!r} {holder}" for holder in [*holders, holders])
    secrets = [drawn.seed[:16], shoe.order[:16], shoe.salts[:16], keys.sealing]
    secrets += [b"sealed-blob", b"0123456789abcdef", b"alice-the-player"]
    secrets += [keys.statement.private_bytes_raw(), keys.checkpoint.private_bytes_raw()]
    for secret in secrets:
        assert repr(secret)[2:-1] not in shown
        assert secret.hex() not in shown
