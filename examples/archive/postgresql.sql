-- Loads the tables that archive_month.py downloaded into PostgreSQL. In their directory:
--   psql --set ON_ERROR_STOP=1 --file examples/archive/postgresql.sql
-- A row exists only for what was observed: weather_gaps and labels_gaps state the rest. All times are UTC.

SET TimeZone TO 'UTC';

CREATE TABLE weather_totals (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  events BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  host VARCHAR NOT NULL,
  protocol VARCHAR NOT NULL,
  PRIMARY KEY (hour)
);
\copy weather_totals FROM 'weather-totals.csv' (FORMAT csv, HEADER)

CREATE TABLE weather_collections (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  collection VARCHAR NOT NULL,
  events BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  host VARCHAR NOT NULL,
  PRIMARY KEY (hour, collection)
);
\copy weather_collections FROM 'weather-collections.csv' (FORMAT csv, HEADER)

CREATE TABLE weather_post_kinds (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  collection VARCHAR NOT NULL,
  events BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  host VARCHAR NOT NULL,
  PRIMARY KEY (hour, collection)
);
\copy weather_post_kinds FROM 'weather-post-kinds.csv' (FORMAT csv, HEADER)

CREATE TABLE weather_other_hosts (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  host VARCHAR NOT NULL,
  events BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  protocol VARCHAR NOT NULL,
  PRIMARY KEY (hour, host, protocol)
);
\copy weather_other_hosts FROM 'weather-other-hosts.csv' (FORMAT csv, HEADER)

CREATE TABLE weather_gaps (
  day DATE NOT NULL,
  scope VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  start TIMESTAMPTZ NOT NULL,
  seconds DOUBLE PRECISION NOT NULL,
  "end" TIMESTAMPTZ NOT NULL
);
\copy weather_gaps FROM 'weather-gaps.csv' (FORMAT csv, HEADER)

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
\copy labels_totals FROM 'labels-totals.csv' (FORMAT csv, HEADER)

CREATE TABLE labels_labelers (
  day DATE NOT NULL,
  labeler_did VARCHAR NOT NULL,
  applications BIGINT NOT NULL,
  removals BIGINT NOT NULL,
  observed_seconds DOUBLE PRECISION NOT NULL,
  observed_hours BIGINT NOT NULL,
  PRIMARY KEY (day, labeler_did)
);
\copy labels_labelers FROM 'labels-labelers.csv' (FORMAT csv, HEADER)

CREATE TABLE labels_rates (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  labels_per_hour DOUBLE PRECISION NOT NULL,
  labeler_seconds DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (hour)
);
\copy labels_rates FROM 'labels-rates.csv' (FORMAT csv, HEADER)

CREATE TABLE labels_late (
  day DATE NOT NULL,
  hour TIMESTAMPTZ NOT NULL,
  filled_in_applications BIGINT NOT NULL,
  filled_in_removals BIGINT NOT NULL,
  filled_in_seconds DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (hour)
);
\copy labels_late FROM 'labels-late.csv' (FORMAT csv, HEADER)

CREATE TABLE labels_late_labelers (
  day DATE NOT NULL,
  labeler_did VARCHAR NOT NULL,
  filled_in_applications BIGINT NOT NULL,
  filled_in_removals BIGINT NOT NULL,
  filled_in_seconds DOUBLE PRECISION NOT NULL,
  PRIMARY KEY (day, labeler_did)
);
\copy labels_late_labelers FROM 'labels-late-labelers.csv' (FORMAT csv, HEADER)

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
\copy labels_sources FROM 'labels-sources.csv' (FORMAT csv, HEADER)

CREATE TABLE labels_gaps (
  day DATE NOT NULL,
  scope VARCHAR NOT NULL,
  reason VARCHAR NOT NULL,
  start TIMESTAMPTZ NOT NULL,
  seconds DOUBLE PRECISION NOT NULL,
  "end" TIMESTAMPTZ NOT NULL
);
\copy labels_gaps FROM 'labels-gaps.csv' (FORMAT csv, HEADER)
