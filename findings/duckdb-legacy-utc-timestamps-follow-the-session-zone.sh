#!/usr/bin/env bash
# A UTC timestamp column that carries only the older TIMESTAMP_MILLIS mark is read by DuckDB as
# a zoneless TIMESTAMP; comparing it with an instant then depends on the session's time zone.
#
# What it is: hyparquet-writer's type TIMESTAMP (and other JavaScript writers') store the
#   converted type TIMESTAMP_MILLIS, not the newer logical type. DuckDB and polars read the file.
# Versions: hyparquet-writer 0.17.0 (npm); duckdb 2.0.1, polars 2.1.0 (PyPI).
# What the spec says: parquet-format LogicalTypes.md, Timestamp, compatibility table:
#   TIMESTAMP_MILLIS means Timestamp(isAdjustedToUTC = true, unit = MILLIS), an instant.
#   pyarrow reads it so.
# Guess: DuckDB gives TIMESTAMP WITH TIME ZONE (as it does for the logical type), polars a
#   UTC column; a filter "since 2026-01-01 02:00 UTC" gives the same hours everywhere.
# Seen: DuckDB gives TIMESTAMP, polars a datetime with no zone. In a session whose TimeZone is
#   America/New_York the filter >= TIMESTAMPTZ '2026-01-01 02:00:00+00' keeps hours from the
#   evening before that instant: the stored UTC digits are taken for New York wall time.
# Wrong number for a user: sums over a window are those of another window, shifted by the
#   reader's own offset; the same script is right on a server in UTC.
# Instead: SET TimeZone='UTC' before comparing, or convert once with
#   hour AT TIME ZONE 'UTC'; publishers: write the logical type with isAdjustedToUTC.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund hyparquet-writer@0.17.0 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install duckdb==2.0.1 polars==2.1.0 pytz==2025.2
cat > w.mjs <<'JS'
import { readFileSync, writeFileSync } from 'node:fs'
import { parquetWriteBuffer } from 'hyparquet-writer'
console.log('hyparquet-writer', JSON.parse(readFileSync('node_modules/hyparquet-writer/package.json')).version)
const hour = [...Array(12).keys()].map(h => new Date(Date.UTC(2026, 0, 1, h - 4)))
const n = hour.map((_, i) => BigInt(1 << i))
const col = { name: 'n', data: n, type: 'INT64' }
writeFileSync('old.parquet', Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'hour', data: hour, type: 'TIMESTAMP' }, col] })))
writeFileSync('new.parquet', Buffer.from(parquetWriteBuffer({ columnData: [{ name: 'hour', data: hour }, { name: 'n', data: n }],
  schema: [{ name: 'root', num_children: 2 },
    { name: 'hour', type: 'INT64', repetition_type: 'REQUIRED', logical_type: { type: 'TIMESTAMP', isAdjustedToUTC: true, unit: 'MILLIS' } },
    { name: 'n', type: 'INT64', repetition_type: 'REQUIRED' }] })))
JS
node w.mjs
cat > r.py <<'PY'
import duckdb, polars as pl
print('duckdb', duckdb.__version__, 'polars', pl.__version__)
def q(f, tz):
    c = duckdb.connect(); c.execute(f"set TimeZone='{tz}'")
    t = c.execute(f"select typeof(hour) from '{f}' limit 1").fetchall()[0][0]
    return (t,) + c.execute(f"select count(*), sum(n)::bigint from '{f}' where hour >= TIMESTAMPTZ '2026-01-01 02:00:00+00'").fetchall()[0]
got = {(f, tz): q(f, tz) for f in ('new.parquet', 'old.parquet') for tz in ('UTC', 'America/New_York')}
for k, v in got.items(): print(*k, 'expected 6 rows, sum 4032; observed', v)
pt = {f: str(pl.read_parquet_schema(f)['hour']) for f in ('new.parquet', 'old.parquet')}
print('polars', pt)
same = (got['new.parquet', 'UTC'][1:] == got['new.parquet', 'America/New_York'][1:] == got['old.parquet', 'UTC'][1:] == (6, 4032)
        and got['old.parquet', 'America/New_York'] == ('TIMESTAMP', 11, 4094)
        and 'UTC' in pt['new.parquet'] and 'UTC' not in pt['old.parquet'])
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python r.py
