-- Loads the tables that archive_month.py downloaded into ClickHouse. In their directory:
--   clickhouse client --queries-file examples/archive/clickhouse.sql
-- A row exists only for what was observed: weather_gaps and labels_gaps state the rest. All times are UTC.

CREATE TABLE weather_totals (
  day Date,
  hour DateTime('UTC'),
  events UInt64,
  observed_seconds Float64,
  host LowCardinality(String),
  protocol LowCardinality(String)
) ENGINE = MergeTree ORDER BY (hour);
INSERT INTO weather_totals FROM INFILE 'weather-totals.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE weather_collections (
  day Date,
  hour DateTime('UTC'),
  collection LowCardinality(String),
  events UInt64,
  observed_seconds Float64,
  host LowCardinality(String)
) ENGINE = MergeTree ORDER BY (hour, collection);
INSERT INTO weather_collections FROM INFILE 'weather-collections.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE weather_post_kinds (
  day Date,
  hour DateTime('UTC'),
  collection LowCardinality(String),
  events UInt64,
  observed_seconds Float64,
  host LowCardinality(String)
) ENGINE = MergeTree ORDER BY (hour, collection);
INSERT INTO weather_post_kinds FROM INFILE 'weather-post-kinds.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE weather_other_hosts (
  day Date,
  hour DateTime('UTC'),
  host LowCardinality(String),
  events UInt64,
  observed_seconds Float64,
  protocol LowCardinality(String)
) ENGINE = MergeTree ORDER BY (hour, host, protocol);
INSERT INTO weather_other_hosts FROM INFILE 'weather-other-hosts.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE weather_gaps (
  day Date,
  scope LowCardinality(String),
  reason LowCardinality(String),
  start DateTime('UTC'),
  seconds Float64,
  "end" DateTime('UTC')
) ENGINE = MergeTree ORDER BY (scope, start);
INSERT INTO weather_gaps FROM INFILE 'weather-gaps.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE labels_totals (
  day Date,
  hour DateTime('UTC'),
  applications UInt64,
  removals UInt64,
  observed_seconds Float64,
  labeler_seconds Float64,
  repeats UInt64
) ENGINE = MergeTree ORDER BY (hour);
INSERT INTO labels_totals FROM INFILE 'labels-totals.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE labels_labelers (
  day Date,
  labeler_did LowCardinality(String),
  applications UInt64,
  removals UInt64,
  observed_seconds Float64,
  observed_hours UInt64
) ENGINE = MergeTree ORDER BY (day, labeler_did);
INSERT INTO labels_labelers FROM INFILE 'labels-labelers.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE labels_rates (
  day Date,
  hour DateTime('UTC'),
  labels_per_hour Float64,
  labeler_seconds Float64
) ENGINE = MergeTree ORDER BY (hour);
INSERT INTO labels_rates FROM INFILE 'labels-rates.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE labels_late (
  day Date,
  hour DateTime('UTC'),
  filled_in_applications UInt64,
  filled_in_removals UInt64,
  filled_in_seconds Float64
) ENGINE = MergeTree ORDER BY (hour);
INSERT INTO labels_late FROM INFILE 'labels-late.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE labels_late_labelers (
  day Date,
  labeler_did LowCardinality(String),
  filled_in_applications UInt64,
  filled_in_removals UInt64,
  filled_in_seconds Float64
) ENGINE = MergeTree ORDER BY (day, labeler_did);
INSERT INTO labels_late_labelers FROM INFILE 'labels-late-labelers.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE labels_sources (
  day Date,
  hour DateTime('UTC'),
  enrolled UInt64,
  probing UInt64,
  refused UInt64,
  established UInt64,
  cursor_order_unverified UInt64,
  undated_only UInt64,
  provider_rejects UInt64,
  unavailable UInt64,
  unstarted UInt64
) ENGINE = MergeTree ORDER BY (hour);
INSERT INTO labels_sources FROM INFILE 'labels-sources.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;

CREATE TABLE labels_gaps (
  day Date,
  scope LowCardinality(String),
  reason LowCardinality(String),
  start DateTime('UTC'),
  seconds Float64,
  "end" DateTime('UTC')
) ENGINE = MergeTree ORDER BY (scope, start);
INSERT INTO labels_gaps FROM INFILE 'labels-gaps.csv'
  SETTINGS date_time_input_format = 'best_effort' FORMAT CSVWithNames;
