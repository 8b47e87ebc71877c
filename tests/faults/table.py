"""The table of faults: every row is one fault, brought about under play, with what must come of it."""

from tests.faults import (
    copying,
    damage_table,
    elsewhere,
    key_change,
    playing,
    recovering,
    starting,
    witnesses,
    witnessing,
)
from tests.faults.row import Row

TABLE: list[Row] = [
    *playing.ROWS,
    *starting.ROWS,
    *key_change.ROWS,
    *copying.ROWS,
    *damage_table.ROWS,
    *recovering.ROWS,
    *elsewhere.ROWS,
    *witnesses.ROWS,
    *witnessing.ROWS,
]
