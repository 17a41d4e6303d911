#!/usr/bin/env bash
# mingo's $dateFromString gives nothing, and no error, for times with an offset, with microseconds or with tenths of a second, so that
# posts of Tokyo and of clients that write microseconds leave their hour; $toDate reads the same texts.
#
# What it is: mingo (npm), the query language of MongoDB for plain JavaScript objects; here posts counted by the hour of createdAt.
# Versions: mingo 7.2.7 (npm), Node 20 or newer; date-fns 4.1.0 parseISO (npm) as the second reader.
# What the docs say: mingo follows the MongoDB manual, where $dateFromString without a format "accepts a variety of formats"
#   beside its usual one and fails with an error where it can read nothing and no onError is given. AT Protocol lexicon,
#   "datetime": a time-zone offset and any number of digits behind the second are allowed; RFC 3339 too.
# Guess: five posts in the hour 2026-01-01T00:00Z, or an error.
# Seen: two, ...10:00.000Z and ...40:00Z; the other three are in a group with the key null, as if they had no time. So is the text
#   "rubbish", for which the manual, too, names an error. An issue of 2022, number 228, of the same kind (a Z at the end)
#   is settled.
# Wrong number for a user: hourly counts hold the clients that write milliseconds and Z; others are missing, and a $match on the
#   hour drops the null group without a trace.
# Instead: $toDate in place of $dateFromString, or make the dates before the query: new Date(post.createdAt).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund mingo@7.2.7 date-fns@4.1.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { aggregate } from 'mingo'
import { parseISO } from 'date-fns'
console.log('mingo', JSON.parse(readFileSync('node_modules/mingo/package.json')).version)
const posts = ['2026-01-01T00:10:00.000Z', '2026-01-01T00:20:00.123456Z', '2026-01-01T09:30:00+09:00', '2026-01-01T00:40:00Z', '2026-01-01T00:50:00.5Z'].map(at => ({ at }))
const hourly = expression => JSON.stringify(aggregate(posts, [{ $group: { _id: { $dateTrunc: { date: expression, unit: 'hour' } }, n: { $sum: 1 } } }]).map(g => [g._id && g._id.toISOString(), g.n]))
const read = hourly({ $dateFromString: { dateString: '$at' } }), to = hourly({ $toDate: '$at' })
const second = posts.filter(p => parseISO(p.at).toISOString().startsWith('2026-01-01T00:')).length
console.log('$dateFromString  expected [["2026-01-01T00:00:00.000Z",5]]')
console.log('                 observed', read)
console.log('$toDate                  ', to, ' parseISO:', second, 'of 5 in that hour')
for (const [at, d] of posts.map(p => [p.at, aggregate([p], [{ $project: { d: { $dateFromString: { dateString: '$at' } } } }])[0].d])) console.log(' ', at.padEnd(28), d?.toISOString())
let rubbish; try { rubbish = aggregate([{ at: 'rubbish' }], [{ $project: { d: { $dateFromString: { dateString: '$at' } } } }])[0].d } catch (e) { rubbish = 'error' }
console.log('  rubbish'.padEnd(30), rubbish)
const same = read === '[["2026-01-01T00:00:00.000Z",2],[null,3]]' && to === '[["2026-01-01T00:00:00.000Z",5]]' && second === 5 && rubbish === undefined
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
