/**
 * Tables of a store. Rows are partitioned by the UTC day of their stamp. All other tables are small; a DELETE removes
 * the data of an expired day from them. Text columns use the collation "C", which sorts by bytes.
 */
const tables = `
CREATE TABLE store (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  generation text NOT NULL,
  started_at bigint NOT NULL,
  floor bigint NOT NULL,
  revision bigint NOT NULL DEFAULT 0,
  heartbeat bigint,
  last_stamp bigint,
  observed_through bigint,
  -- Fencing token: increases whenever a process becomes the writer, and is compared in every commit.
  token bigint NOT NULL DEFAULT 0,
  holder text,
  renewed_at timestamptz NOT NULL DEFAULT '-infinity',
  expires_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 20);

CREATE TABLE day (
  day integer PRIMARY KEY,
  sealed boolean NOT NULL DEFAULT false,
  revision bigint NOT NULL DEFAULT 0
);

CREATE TABLE source (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, did text COLLATE "C" NOT NULL UNIQUE);

CREATE TABLE observation (
  at bigint NOT NULL,
  source integer NOT NULL,
  target smallint NOT NULL,
  flags smallint NOT NULL,
  ver bigint,
  subject text COLLATE "C" NOT NULL,
  val text COLLATE "C" NOT NULL,
  -- Text of the uri after the DID; null if the uri is the DID.
  rest text COLLATE "C",
  cts text COLLATE "C" NOT NULL,
  cid text COLLATE "C",
  exp text COLLATE "C",
  identity bytea NOT NULL,
  sig bytea,
  extra bytea,
  PRIMARY KEY (subject, at)
) PARTITION BY RANGE (at);
-- Rows are appended in the order of their stamps, so a small block-range index finds the rows of an interval.
CREATE INDEX observation_at ON observation USING brin (at) WITH (pages_per_range = 16);

CREATE TABLE counter_minute (
  minute integer, source integer, applied integer NOT NULL, removed integer NOT NULL, PRIMARY KEY (minute, source)
);
CREATE TABLE counter_hour (
  hour integer, source integer, applied integer NOT NULL, removed integer NOT NULL, PRIMARY KEY (hour, source)
);
CREATE TABLE refusal (
  hour integer, source integer, reason text COLLATE "C", n bigint NOT NULL, PRIMARY KEY (hour, source, reason)
);
-- Counts by labeler. Kind 0 counts by verdict, 1 by value, 2 all other values together, 3 by delay range.
CREATE TABLE labeler_count (
  day integer, source integer, kind smallint, key text COLLATE "C",
  applied bigint NOT NULL, removed bigint NOT NULL, PRIMARY KEY (day, source, kind, key)
);
-- Counts of accounts with many rows on one day, by labeler, value and target.
CREATE TABLE account_group (
  day integer, subject text COLLATE "C", source integer, target smallint,
  -- Hash of the value, because an index entry has at most 2,700 bytes.
  val_key bytea, val text COLLATE "C" NOT NULL,
  applied bigint NOT NULL, removed bigint NOT NULL, PRIMARY KEY (day, subject, source, target, val_key)
);

CREATE TABLE position (
  -- Hash of the source and the endpoint, because an index entry has at most 2,700 bytes.
  key text COLLATE "C" PRIMARY KEY,
  source text COLLATE "C" NOT NULL, endpoint text COLLATE "C" NOT NULL, value text NOT NULL, accepted_at bigint NOT NULL
);
CREATE TABLE refused_rows (
  source text COLLATE "C", bucket smallint, rows text NOT NULL, PRIMARY KEY (source, bucket)
);

-- The empty source stands for the whole instrument.
CREATE TABLE gap (
  source text COLLATE "C", started bigint, ended bigint, reason text COLLATE "C",
  PRIMARY KEY (source, started, ended, reason)
);
CREATE TABLE labeler (
  did text COLLATE "C" PRIMARY KEY,
  origin text NOT NULL,
  -- Texts as a JSON array.
  provenance text NOT NULL,
  enrolled boolean NOT NULL,
  resolution_status text NOT NULL,
  endpoint text,
  handle text,
  handle_confirmed boolean NOT NULL,
  state text NOT NULL,
  state_since bigint NOT NULL,
  first_asked bigint,
  first_answered bigint,
  last_answered bigint,
  failing_since bigint,
  complete_through bigint,
  dated boolean NOT NULL,
  undated boolean NOT NULL
);
CREATE TABLE label_key (
  did text COLLATE "C", label_key text COLLATE "C", first_seen bigint NOT NULL, last_seen bigint NOT NULL,
  PRIMARY KEY (did, label_key)
);
CREATE TABLE definitions (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  did text COLLATE "C" NOT NULL, seen_at bigint NOT NULL, content text NOT NULL
);
CREATE INDEX definitions_did ON definitions (did, id);
CREATE TABLE note (name text COLLATE "C" PRIMARY KEY, content text NOT NULL);
CREATE TABLE daily_bytes (source text COLLATE "C" PRIMARY KEY, day integer NOT NULL, bytes bigint NOT NULL);
CREATE TABLE directory_position (host text COLLATE "C" PRIMARY KEY, seq bigint NOT NULL);
CREATE TABLE purge (
  source text COLLATE "C" PRIMARY KEY,
  requested_at bigint NOT NULL,
  completed_at bigint,
  removed bigint NOT NULL DEFAULT 0,
  next_day integer NOT NULL DEFAULT 0
);
`;

/** Table for handing the store over to a standby. The token of the current writer is in the table `store`. */
const succession = `
CREATE TABLE succession (
  one boolean PRIMARY KEY DEFAULT true CHECK (one),
  -- Token of the last writer that has opened the store.
  writer_ready bigint,
  -- Token of the writer that is asked to stop, because a standby is ready.
  hand_over bigint,
  -- The standby. Each new standby gets a higher token and renews its registration like a lease.
  standby bigint NOT NULL DEFAULT 0,
  standby_holder text,
  standby_ready boolean NOT NULL DEFAULT false,
  standby_expires_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 20);
INSERT INTO succession DEFAULT VALUES;
`;

/**
 * Column with the time before which no more rows will be added. A standby of the database uses it to determine how
 * current its data is.
 */
const mark = 'ALTER TABLE store ADD COLUMN mark bigint';

/**
 * Smaller rows. New rows hold most fields of a label in `body`; the flags of a row state which form it has, so that rows
 * of earlier versions stay as they are. The index of subjects has a hash instead of the text, which is a third shorter.
 * The seed of the hash is secret, so that no labeler can name accounts whose rows would slow down the reads of another
 * account. `:seed` stands for a random number.
 */
const compactRows = `
CREATE FUNCTION account_key(subject text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN starts_with(subject, 'did:plc:') AND length(subject) = 32 AND strpos(substr(subject, 9), ':') = 0
  THEN substr(subject, 9) ELSE subject END;
CREATE FUNCTION subject_hash(subject text) RETURNS bigint LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN hashtextextended(CASE WHEN starts_with(subject, 'did:plc:') AND length(subject) = 32
  AND strpos(substr(subject, 9), ':') = 0 THEN substr(subject, 9) ELSE subject END, :seed);
ALTER TABLE observation RENAME COLUMN sig TO body;
ALTER TABLE observation ALTER COLUMN cts DROP NOT NULL;
CREATE INDEX observation_subject ON observation (subject_hash(subject), at);
ALTER TABLE observation DROP CONSTRAINT observation_pkey;
UPDATE account_group SET subject = account_key(subject) WHERE subject <> account_key(subject);
-- Room for new versions of rows in the same page, whose index entries then stay as they are.
ALTER TABLE labeler_count SET (fillfactor = 60);
ALTER TABLE counter_hour SET (fillfactor = 60);
ALTER TABLE counter_minute SET (fillfactor = 80);

-- Adds the counts of a batch. A function keeps its plans, and its parameters need one round trip.
CREATE FUNCTION add_counts(
  p_day integer, p_at bigint,
  minutes integer[], minute_sources integer[], minute_applied integer[], minute_removed integer[],
  labeler_sources integer[], labeler_kinds smallint[], labeler_keys text[], labeler_applied bigint[],
  labeler_removed bigint[],
  group_subjects text[], group_sources integer[], group_targets smallint[], group_vals text[],
  group_applied bigint[], group_removed bigint[],
  refusal_sources integer[], refusal_reasons text[], refusal_counts bigint[],
  position_keys text[], position_sources text[], position_endpoints text[], position_values text[], p_accepted bigint
) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
  IF cardinality(minutes) > 0 THEN
    INSERT INTO counter_minute AS c(minute, source, applied, removed)
      SELECT * FROM unnest(minutes, minute_sources, minute_applied, minute_removed)
      ON CONFLICT (minute, source) DO UPDATE SET applied = c.applied + excluded.applied,
      removed = c.removed + excluded.removed;
    INSERT INTO counter_hour AS c(hour, source, applied, removed)
      SELECT m / 60, s, sum(a), sum(r) FROM unnest(minutes, minute_sources, minute_applied, minute_removed) u(m, s, a, r)
      GROUP BY 1, 2
      ON CONFLICT (hour, source) DO UPDATE SET applied = c.applied + excluded.applied,
      removed = c.removed + excluded.removed;
  END IF;
  IF cardinality(labeler_sources) > 0 THEN
    INSERT INTO labeler_count AS c(day, source, kind, key, applied, removed)
      SELECT p_day, * FROM unnest(labeler_sources, labeler_kinds, labeler_keys, labeler_applied, labeler_removed)
      ON CONFLICT (day, source, kind, key) DO UPDATE SET applied = c.applied + excluded.applied,
      removed = c.removed + excluded.removed;
  END IF;
  IF cardinality(group_subjects) > 0 THEN
    INSERT INTO account_group AS c(day, subject, source, target, val_key, val, applied, removed)
      SELECT p_day, u, s, t, substring(sha256(convert_to(v, 'UTF8')) for 16), v, a, r
      FROM unnest(group_subjects, group_sources, group_targets, group_vals, group_applied, group_removed)
      g(u, s, t, v, a, r)
      ON CONFLICT (day, subject, source, target, val_key) DO UPDATE SET applied = c.applied + excluded.applied,
      removed = c.removed + excluded.removed;
  END IF;
  IF cardinality(refusal_sources) > 0 THEN
    INSERT INTO refusal AS c(hour, source, reason, n)
      SELECT p_at / 3600000000, * FROM unnest(refusal_sources, refusal_reasons, refusal_counts)
      ON CONFLICT (hour, source, reason) DO UPDATE SET n = c.n + excluded.n;
  END IF;
  IF cardinality(position_keys) > 0 THEN
    INSERT INTO position AS c(key, source, endpoint, value, accepted_at)
      SELECT p.*, p_accepted FROM unnest(position_keys, position_sources, position_endpoints, position_values) p
      ON CONFLICT (key) DO UPDATE SET value = excluded.value, accepted_at = excluded.accepted_at;
  END IF;
END $$;
`;

/** Statements of each schema version; version 1 is at index 0. A released version must never be changed. */
export const migrations: readonly string[] = [tables, succession, mark, compactRows];
