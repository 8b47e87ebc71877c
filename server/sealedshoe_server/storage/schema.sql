-- The log and its indexes. Entries, hashes and heads are append-only, and the engine enforces it.
PRAGMA application_id = 1397969992; -- "SSHH"
PRAGMA user_version = 3;

CREATE TABLE meta (
  key TEXT PRIMARY KEY,
  value TEXT NOT NULL
) STRICT;

CREATE TABLE entries (
  idx INTEGER PRIMARY KEY,
  envelope BLOB NOT NULL,
  leaf BLOB NOT NULL CHECK (length(leaf) = 32),
  table_id TEXT NOT NULL,
  sequence INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX entries_by_table ON entries (table_id, sequence) WHERE table_id <> '';

-- Hashes of subtrees of 256^k leaves, k >= 1: the levels that tiles hold.
CREATE TABLE tile_hashes (
  level INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  hash BLOB NOT NULL CHECK (length(hash) = 32),
  PRIMARY KEY (level, idx)
) STRICT, WITHOUT ROWID;

-- One row a commit: the text that is signed, and the size of the head before, so that none can be missing.
CREATE TABLE heads (
  size INTEGER PRIMARY KEY,
  before INTEGER NOT NULL,
  text TEXT NOT NULL,
  time_us INTEGER NOT NULL
) STRICT;

-- The one row that an append locks first.
CREATE TABLE head (
  one INTEGER PRIMARY KEY CHECK (one = 1),
  size INTEGER NOT NULL,
  edge BLOB NOT NULL,
  text TEXT NOT NULL,
  key_changes INTEGER NOT NULL -- rows in key_changes, so that none can be missing
) STRICT;

-- Heads under a quorum of cosignatures, byte for byte; records name them by hash.
CREATE TABLE cosigned (
  hash BLOB PRIMARY KEY CHECK (length(hash) = 32),
  size INTEGER NOT NULL,
  note BLOB NOT NULL
) STRICT;

CREATE TABLE games (
  game_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  idx INTEGER NOT NULL,
  PRIMARY KEY (game_id, version)
) STRICT, WITHOUT ROWID;

-- Leaf indexes of every KeyChanged.
CREATE TABLE key_changes (
  idx INTEGER PRIMARY KEY
) STRICT;

-- Leaf indexes of every TimeStamped.
CREATE TABLE time_stamps (
  idx INTEGER PRIMARY KEY
) STRICT;

CREATE TABLE tables (
  table_id TEXT PRIMARY KEY,
  sequence INTEGER NOT NULL,
  snapshot BLOB NOT NULL,
  no_round_reason TEXT NOT NULL
) STRICT;

CREATE TABLE rounds (
  opened_index INTEGER PRIMARY KEY,
  table_id TEXT NOT NULL,
  round_number INTEGER NOT NULL,
  shoe_number INTEGER NOT NULL,
  state INTEGER NOT NULL,
  opened_us INTEGER NOT NULL,
  result_index INTEGER,
  no_next_reason TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE UNIQUE INDEX rounds_by_number ON rounds (table_id, round_number);

CREATE TABLE shoes (
  table_id TEXT NOT NULL,
  shoe_number INTEGER NOT NULL,
  opened_index INTEGER NOT NULL,
  closed_index INTEGER,
  commitment BLOB NOT NULL UNIQUE,
  sealed BLOB NOT NULL,
  PRIMARY KEY (table_id, shoe_number)
) STRICT, WITHOUT ROWID;

CREATE TABLE players (
  opened_index INTEGER NOT NULL,
  wager_id TEXT NOT NULL,
  reference TEXT NOT NULL,
  salt BLOB NOT NULL,
  PRIMARY KEY (opened_index, wager_id)
) STRICT, WITHOUT ROWID;
CREATE INDEX players_by_reference ON players (reference, opened_index);

CREATE TABLE requests (
  id INTEGER PRIMARY KEY,
  caller TEXT NOT NULL,
  request_id TEXT NOT NULL,
  request_hash BLOB NOT NULL,
  answer BLOB,
  digest BLOB NOT NULL CHECK (length(digest) = 32), -- of request hash, head size and answer
  head_size INTEGER NOT NULL,
  round TEXT NOT NULL,
  time_us INTEGER NOT NULL
) STRICT;
CREATE UNIQUE INDEX requests_by_id ON requests (caller, request_id);
CREATE INDEX requests_to_expire ON requests (time_us) WHERE answer IS NOT NULL;

CREATE TRIGGER entries_stay BEFORE UPDATE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER entries_last BEFORE DELETE ON entries BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER hashes_stay BEFORE UPDATE ON tile_hashes BEGIN SELECT RAISE(ABORT, 'hashes are append-only'); END;
CREATE TRIGGER hashes_last BEFORE DELETE ON tile_hashes BEGIN SELECT RAISE(ABORT, 'hashes are append-only'); END;
CREATE TRIGGER heads_stay BEFORE UPDATE ON heads BEGIN SELECT RAISE(ABORT, 'heads are append-only'); END;
CREATE TRIGGER heads_last BEFORE DELETE ON heads BEGIN SELECT RAISE(ABORT, 'heads are append-only'); END;
CREATE TRIGGER head_grows BEFORE UPDATE ON head WHEN NEW.size <= OLD.size
  BEGIN SELECT RAISE(ABORT, 'a head only grows'); END;
CREATE TRIGGER head_last BEFORE DELETE ON head BEGIN SELECT RAISE(ABORT, 'the head stays'); END;
CREATE TRIGGER requests_stay BEFORE DELETE ON requests BEGIN SELECT RAISE(ABORT, 'request ids stay'); END;
CREATE TRIGGER answers_expire BEFORE UPDATE ON requests WHEN NEW.answer IS NOT NULL OR
  (NEW.id, NEW.caller, NEW.request_id, NEW.request_hash, NEW.digest, NEW.head_size, NEW.round, NEW.time_us) <>
  (OLD.id, OLD.caller, OLD.request_id, OLD.request_hash, OLD.digest, OLD.head_size, OLD.round, OLD.time_us)
  BEGIN SELECT RAISE(ABORT, 'an answer may expire, no more'); END;

-- REPLACE would delete a row without asking the DELETE triggers.
CREATE TRIGGER entries_once BEFORE INSERT ON entries
  WHEN EXISTS (SELECT 1 FROM entries WHERE idx = NEW.idx)
  BEGIN SELECT RAISE(ABORT, 'entries are append-only'); END;
CREATE TRIGGER hashes_once BEFORE INSERT ON tile_hashes
  WHEN EXISTS (SELECT 1 FROM tile_hashes WHERE level = NEW.level AND idx = NEW.idx)
  BEGIN SELECT RAISE(ABORT, 'hashes are append-only'); END;
CREATE TRIGGER heads_once BEFORE INSERT ON heads
  WHEN EXISTS (SELECT 1 FROM heads WHERE size = NEW.size)
  BEGIN SELECT RAISE(ABORT, 'heads are append-only'); END;
CREATE TRIGGER head_once BEFORE INSERT ON head WHEN EXISTS (SELECT 1 FROM head)
  BEGIN SELECT RAISE(ABORT, 'there is one head'); END;
