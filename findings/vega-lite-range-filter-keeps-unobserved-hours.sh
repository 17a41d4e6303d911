#!/usr/bin/env bash
# Vega-Lite's own field predicates let null through: {"field": "stars", "range": [0, 5]} keeps
# unobserved hours, so a chart of quiet hours counts the gaps as quiet.
#
# What it is: Vega-Lite filter transforms written as JSON predicates (no expression).
# Versions: vega-lite 6.4.3, vega 6.4.0 (npm), no renderer.
# What the docs say: vega-lite docs, "Predicate", Field Range Predicate: the range is an
#   inclusive minimum and maximum for the value of an item to be included; lt means less
#   than. Charts themselves drop null marks ("invalid data"), and {"valid": true} exists.
# Guess: null is no number between 0 and 5, so one hour (the real 0) is counted; the same
#   for {"lt": 5}, and {"gte": 0} keeps the three observed hours.
# Seen: range [0, 5] and lt 5 keep 3 of 5 hours, gte 0 keeps all 5: null is compared as 0.
# Wrong number for a user: a bar "hours with 0 to 5 stars: 3" where one hour was so and two
#   were never observed. Nothing is drawn in between that could be seen to be missing.
# Instead: {"and": [{"field": "stars", "valid": true}, {"field": "stars", "range": [0, 5]}]}.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund vega@6.4.0 vega-lite@6.4.3 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import * as vega from 'vega'
import * as vl from 'vega-lite'
for (const p of ['vega-lite', 'vega']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
const values = [10, null, 0, 30, null].map((stars, h) => ({ hour: `2026-01-01T0${h}:00:00Z`, stars }))
const count = async filter => {
  const spec = { data: { values }, transform: [{ filter }], mark: 'bar', encoding: { y: { aggregate: 'count', type: 'quantitative' } } }
  const view = new vega.View(vega.parse(vl.compile(spec).spec), { renderer: 'none' })
  await view.runAsync()
  return view.data('data_0').reduce((s, d) => s + d.__count, 0)
}
const rows = [
  [{ field: 'stars', range: [0, 5] }, 1, 3],
  [{ field: 'stars', lt: 5 }, 1, 3],
  [{ field: 'stars', gte: 0 }, 3, 5],
  [{ and: [{ field: 'stars', valid: true }, { field: 'stars', range: [0, 5] }] }, 1, 1],
]
let same = true
for (const [f, want, seen] of rows) { const got = await count(f); console.log(JSON.stringify(f), 'expected', want, 'observed', got); same &&= got === seen }
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
