-- Loads the tables that archive_month.py downloaded into SQLite. In their directory:
--   sqlite3 archive.db < examples/archive/sqlite.sql
-- A row exists only for what was observed: weather_gaps and labels_gaps state the rest. All times are UTC.

CREATE TABLE weather_totals (
  day TEXT NOT NULL,
  hour TEXT NOT NULL,
  events INTEGER NOT NULL,
  observed_seconds REAL NOT NULL,
  host TEXT NOT NULL,
  protocol TEXT NOT NULL,
  PRIMARY KEY (hour)
);
.import --csv --skip 1 weather-totals.csv weather_totals

CREATE TABLE weather_collections (
  day TEXT NOT NULL,
  hour TEXT NOT NULL,
  collection TEXT NOT NULL,
  events INTEGER NOT NULL,
  observed_seconds REAL NOT NULL,
  host TEXT NOT NULL,
  PRIMARY KEY (hour, collection)
);
.import --csv --skip 1 weather-collections.csv weather_collections

CREATE TABLE weather_post_kinds (
  day TEXT NOT NULL,
  hour TEXT NOT NULL,
  collection TEXT NOT NULL,
  events INTEGER NOT NULL,
  observed_seconds REAL NOT NULL,
  host TEXT NOT NULL,
  PRIMARY KEY (hour, collection)
);
.import --csv --skip 1 weather-post-kinds.csv weather_post_kinds

CREATE TABLE weather_other_hosts (
  day TEXT NOT NULL,
  hour TEXT NOT NULL,
  host TEXT NOT NULL,
  events INTEGER NOT NULL,
  observed_seconds REAL NOT NULL,
  protocol TEXT NOT NULL,
  PRIMARY KEY (hour, host, protocol)
);
.import --csv --skip 1 weather-other-hosts.csv weather_other_hosts

CREATE TABLE weather_gaps (
  day TEXT NOT NULL,
  scope TEXT NOT NULL,
  reason TEXT NOT NULL,
  start TEXT NOT NULL,
  seconds REAL NOT NULL,
  "end" TEXT NOT NULL
);
.import --csv --skip 1 weather-gaps.csv weather_gaps

CREATE TABLE labels_totals (
  day TEXT NOT NULL,
  hour TEXT NOT NULL,
  applications INTEGER NOT NULL,
  removals INTEGER NOT NULL,
  observed_seconds REAL NOT NULL,
  labeler_seconds REAL NOT NULL,
  repeats INTEGER NOT NULL,
  PRIMARY KEY (hour)
);
.import --csv --skip 1 labels-totals.csv labels_totals

CREATE TABLE labels_labelers (
  day TEXT NOT NULL,
  labeler_did TEXT NOT NULL,
  applications INTEGER NOT NULL,
  removals INTEGER NOT NULL,
  observed_seconds REAL NOT NULL,
  observed_hours INTEGER NOT NULL,
  PRIMARY KEY (day, labeler_did)
);
.import --csv --skip 1 labels-labelers.csv labels_labelers

CREATE TABLE labels_rates (
  day TEXT NOT NULL,
  hour TEXT NOT NULL,
  labels_per_hour REAL NOT NULL,
  labeler_seconds REAL NOT NULL,
  PRIMARY KEY (hour)
);
.import --csv --skip 1 labels-rates.csv labels_rates

CREATE TABLE labels_late (
  day TEXT NOT NULL,
  hour TEXT NOT NULL,
  filled_in_applications INTEGER NOT NULL,
  filled_in_removals INTEGER NOT NULL,
  filled_in_seconds REAL NOT NULL,
  PRIMARY KEY (hour)
);
.import --csv --skip 1 labels-late.csv labels_late

CREATE TABLE labels_late_labelers (
  day TEXT NOT NULL,
  labeler_did TEXT NOT NULL,
  filled_in_applications INTEGER NOT NULL,
  filled_in_removals INTEGER NOT NULL,
  filled_in_seconds REAL NOT NULL,
  PRIMARY KEY (day, labeler_did)
);
.import --csv --skip 1 labels-late-labelers.csv labels_late_labelers

CREATE TABLE labels_sources (
  day TEXT NOT NULL,
  hour TEXT NOT NULL,
  enrolled INTEGER NOT NULL,
  probing INTEGER NOT NULL,
  refused INTEGER NOT NULL,
  established INTEGER NOT NULL,
  cursor_order_unverified INTEGER NOT NULL,
  undated_only INTEGER NOT NULL,
  provider_rejects INTEGER NOT NULL,
  unavailable INTEGER NOT NULL,
  unstarted INTEGER NOT NULL,
  PRIMARY KEY (hour)
);
.import --csv --skip 1 labels-sources.csv labels_sources

CREATE TABLE labels_gaps (
  day TEXT NOT NULL,
  scope TEXT NOT NULL,
  reason TEXT NOT NULL,
  start TEXT NOT NULL,
  seconds REAL NOT NULL,
  "end" TEXT NOT NULL
);
.import --csv --skip 1 labels-gaps.csv labels_gaps
