"""Games and tables of a bare server, made through OperatorService as an operator would."""

from importlib import resources

import grpc

from sealedshoe_audit.v1 import game_pb2
from sealedshoe_audit.v1 import records_pb2 as pb
from sealedshoe_server.v1 import operator_service_pb2 as pb_op
from sealedshoe_server.v1.operator_service_pb2_grpc import OperatorServiceStub
from tests.bench.load import Seat

BY = pb.Accountability(actor="bench")
GAMES = resources.files("sealedshoe_audit.baccarat").joinpath("games")
LIMITS = game_pb2.Limits(currency="USD", minimum=500, maximum=50_000, step=20)
TIMEOUT_S = 10.0


def install(channel: grpc.Channel, game: str) -> None:
    """Installs version 1 of a game that ships with the product."""
    text = GAMES.joinpath(f"{game}.toml").read_text("utf-8")
    request = pb_op.InstallGameRequest(request_id=f"game-{game}", definition_toml=text, by=BY)
    OperatorServiceStub(channel).InstallGame(request, timeout=TIMEOUT_S)


def open_tables(channel: grpc.Channel, game: str, count: int) -> list[Seat]:
    """Creates so many tables, each with its first round open."""
    stub = OperatorServiceStub(channel)
    settings = pb.TableSettings(game_id=game, game_version=1, limits=LIMITS, currency_digits=2)
    seats: list[Seat] = []
    for number in range(1, count + 1):
        request = pb_op.CreateTableRequest(
            request_id=f"table-{number}", table_id=f"t{number}", settings=settings, by=BY
        )
        opened = stub.CreateTable(request, timeout=TIMEOUT_S).round
        seats.append(Seat(opened.name, opened.opening_hash.hex()))
    return seats
