#!/usr/bin/env bash
# The JavaScript tableschema library takes "...T00:00:00Z" for local wall time: outside UTC
# every hour moves by the reader's offset, and on the day clocks go forward two hours of the
# table become one.
#
# What it is: tableschema (npm), the Table Schema library of the Frictionless project for
#   JavaScript; fields of type datetime, format default.
# Versions: tableschema 1.12.6 (npm); run under TZ=UTC and TZ=America/New_York.
# What the spec says: Table Schema v1, "datetime": the default format is ISO 8601
#   YYYY-MM-DDThh:mm:ssZ "in UTC time".
# Guess: a Z at the end is UTC whatever the reader's zone, as for new Date(text).
# Seen: in New York 2026-01-01T00:00:00Z is cast to the instant 05:00Z; no error, and the same
#   program is right on a server in UTC. Of the 24 hours of 2026-03-08 only 23 different
#   instants are left: 02:00Z and 03:00Z give the same one. Format "any" reads them rightly.
# Wrong number for a user: hourly counts under the wrong hour, daily sums cut at the wrong
#   midnight, and once a year an hour counted on top of its neighbour.
# Instead: run the reader with TZ=UTC, or declare the field with format "any" (or as string
#   and use Date.parse).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund tableschema@1.12.6 >/dev/null
cat > run.mjs <<'JS'
import tableschema from 'tableschema'
const cast = format => { const f = new tableschema.Field({ name: 'hour', type: 'datetime', format }); return v => f.castValue(v).toISOString() }
const def = cast('default'), any = cast('any')
const day = [...Array(24).keys()].map(h => `2026-03-08T${String(h).padStart(2, '0')}:00:00Z`)
console.log([def('2026-01-01T00:00:00Z'), any('2026-01-01T00:00:00Z'), new Set(day.map(def)).size, new Set(day.map(any)).size].join(' '))
JS
echo "tableschema $(node -p "require('./node_modules/tableschema/package.json').version")"
u=$(TZ=UTC node run.mjs); n=$(TZ=America/New_York node run.mjs)
echo 'columns: 2026-01-01T00:00:00Z as default, as any; different instants of 24 hours as default, as any'
echo "TZ=UTC              expected 2026-01-01T00:00:00.000Z 2026-01-01T00:00:00.000Z 24 24"
echo "                    observed $u"
echo "TZ=America/New_York expected 2026-01-01T00:00:00.000Z 2026-01-01T00:00:00.000Z 24 24"
echo "                    observed $n"
z=2026-01-01T00:00:00.000Z
if [ "$u" = "$z $z 24 24" ] && [ "$n" = "2026-01-01T05:00:00.000Z $z 23 24" ]; then echo 'still as stated'; else echo changed; exit 1; fi
