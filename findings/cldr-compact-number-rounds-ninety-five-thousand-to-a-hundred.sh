#!/usr/bin/env bash
# cldr-compact-number writes 95,100 as 100K and 951,000 as 1M, where CLDR's rule gives 95K and 951K; 94,900 is 95K. With a digit
# after the point 951,000 becomes 1.0M.
#
# What it is: compact numbers (1K, 2 mil, 10万) for many languages from the data of CLDR, meant for statistics and charts.
# Versions: cldr-compact-number 0.4.0 (npm); Babel 2.19.0 (PyPI) and the Intl of Node for comparison.
# What the spec says: UTS 35, part 3, Compact Number Formats: to format N, the greatest type less than or equal to N is used, and N is
#   divided by it. The README says that 101234 becomes 101K, "based on CLDR"; of what comes just below a step it says nothing.
# Guess: 95K for 95,100 and 951K for 951,000, rounded to whole units: wrong by half a unit at most, as for 94,900.
# Seen: 9,501 to 9,999 is 10K, as everywhere, but 95,001 to 99,499 is 100K, and 950,001 to 999,499 is 1M; likewise 95.1M is 100M. So
#   the step from 95,000 to 95,001 adds five thousand. With significantDigits 1 the former is 95.1K, and 951,000 still 1.0M.
# Why: within five percent below a step the rule of the step is taken. The value is then rounded to tens, or to whole millions; the
#   comment in the source means 950K to 1M, and an option threshold, which the README does not name, moves it.
# Wrong number for a user: 95,100 posts in an hour are labelled 100K, beside a bar that is five percent lower; a goal of a million
#   appears to be reached with 49,999 missing.
# Instead: Intl.NumberFormat with notation: 'compact', or the option threshold: 0.0005 with whole units.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null; npm i --silent --no-audit --no-fund --ignore-scripts cldr-compact-number@0.4.0 >/dev/null
python3 -m venv v; v/bin/pip -q --disable-pip-version-check install --no-compile babel==2.19.0 >/dev/null
cat > run.cjs <<'JS'
const { execFileSync } = require('node:child_process')
const lib = require('cldr-compact-number'), compact = lib.compactFormat ?? lib.default ?? lib
console.log('cldr-compact-number', require('cldr-compact-number/package.json').version, 'node', process.version, 'ICU', process.versions.icu)
const numbers = [94900, 95000, 95001, 95100, 99400, 940000, 951000, 999000, 95100000]
const intl = new Intl.NumberFormat('en', { notation: 'compact', maximumFractionDigits: 0 })
const babel = JSON.parse(execFileSync('v/bin/python', ['-c', `import json
from babel.numbers import format_compact_decimal as f
print(json.dumps([f(n, locale='en_US') for n in ${JSON.stringify(numbers)}]))`]))
const got = numbers.map(n => compact(n, 'en', {}))
const digit = numbers.map(n => compact(n, 'en', {}, { significantDigits: 1, minimumFractionDigits: 1, maximumFractionDigits: 1 }))
const low = numbers.map(n => compact(n, 'en', {}, { threshold: 0.0005 }))
numbers.forEach((n, i) => console.log(String(n).padStart(9), 'library', got[i].padEnd(5), 'with a digit', digit[i].padEnd(7), 'threshold 0.0005', low[i].padEnd(5), 'Intl', intl.format(n).padEnd(5), 'Babel', babel[i]))
const expected = '95K 95K 95K 95K 99K 940K 951K 999K 95M'
const same = low.join(' ') === expected && got.join(' ') === '95K 95K 100K 100K 100K 940K 1M 1M 100M' && digit[6] === '1.0M' && digit[3] === '95.1K'
  && numbers.map(n => intl.format(n)).join(' ') === expected && babel.join(' ') === expected
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
