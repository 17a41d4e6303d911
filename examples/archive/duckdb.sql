-- Loads the tables that archive_month.py downloaded into DuckDB. In their directory:
--   duckdb archive.duckdb < examples/archive/duckdb.sql
-- A row exists only for what was observed: weather_gaps and labels_gaps state the rest. All times are UTC.

SET TimeZone = 'UTC';

CREATE TABLE weather_totals (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  events BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  host VARCHAR NOT NULL,
  protocol VARCHAR NOT NULL,
  PRIMARY KEY (hour)
);
COPY weather_totals FROM 'weather-totals.csv' (HEADER);

CREATE TABLE weather_collections (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  collection VARCHAR NOT NULL,
  events BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  host VARCHAR NOT NULL,
  PRIMARY KEY (hour, collection)
);
COPY weather_collections FROM 'weather-collections.csv' (HEADER);

CREATE TABLE weather_post_kinds (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  collection VARCHAR NOT NULL,
  events BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  host VARCHAR NOT NULL,
  PRIMARY KEY (hour, collection)
);
COPY weather_post_kinds FROM 'weather-post-kinds.csv' (HEADER);

CREATE TABLE weather_other_hosts (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  host VARCHAR NOT NULL,
  events BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  protocol VARCHAR NOT NULL,
  PRIMARY KEY (hour, host, protocol)
);
COPY weather_other_hosts FROM 'weather-other-hosts.csv' (HEADER);

CREATE TABLE weather_gaps (
  day DATE NOT NULL,
  scope VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  start TIMESTAMPTZ NOT NULL,
  seconds DOUBLE PRECISION NOT NULL,
  "end" TIMESTAMPTZ NOT NULL
);
COPY weather_gaps FROM 'weather-gaps.csv' (HEADER);

CREATE TABLE labels_totals (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  applications BIGINT NOT NULL,
  removals BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  labeler_seconds DOUBLE PRECISION NOT NULL,
  repeats BIGINT NOT NULL,
  PRIMARY KEY (hour)
);
COPY labels_totals FROM 'labels-totals.csv' (HEADER);

CREATE TABLE labels_labelers (
  day DATE NOT NULL,
  labeler_did VARCHAR NOT NULL,
  applications BIGINT NOT NULL,
  removals BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  observed_hours BIGINT NOT NULL,
  PRIMARY KEY (day, labeler_did)
);
COPY labels_labelers FROM 'labels-labelers.csv' (HEADER);

CREATE TABLE labels_rates (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  labels_per_hour DOUBLE PRECISION NOT NULL,
  labeler_seconds DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (hour)
);
COPY labels_rates FROM 'labels-rates.csv' (HEADER);

CREATE TABLE labels_late (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  filled_in_applications BIGINT NOT NULL,
  filled_in_removals BIGINT NOT NULL,
  filled_in_seconds DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (hour)
);
COPY labels_late FROM 'labels-late.csv' (HEADER);

CREATE TABLE labels_late_labelers (
  day DATE NOT NULL,
  labeler_did VARCHAR NOT NULL,
  filled_in_applications BIGINT NOT NULL,
  filled_in_removals BIGINT NOT NULL,
  filled_in_seconds DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (day, labeler_did)
);
COPY labels_late_labelers FROM 'labels-late-labelers.csv' (HEADER);

CREATE TABLE labels_sources (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  enrolled BIGINT NOT NULL,
  probing BIGINT NOT NULL,
  refused BIGINT NOT NULL,
  established BIGINT NOT NULL,
  cursor_order_unverified BIGINT NOT NULL,
  undated_only BIGINT NOT NULL,
  provider_rejects BIGINT NOT NULL,
  unavailable BIGINT NOT NULL,
  unstarted BIGINT NOT NULL,
  PRIMARY KEY (hour)
);
COPY labels_sources FROM 'labels-sources.csv' (HEADER);

CREATE TABLE labels_gaps (
  day DATE NOT NULL,
  scope VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  start TIMESTAMPTZ NOT NULL,
  seconds DOUBLE PRECISION NOT NULL,
  "end" TIMESTAMPTZ NOT NULL
);
COPY labels_gaps FROM 'labels-gaps.csv' (HEADER);
