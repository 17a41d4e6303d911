#!/usr/bin/env bash
# Four sparkline libraries draw null as 0: an hour that nobody observed looks like an outage, and
# the scale is stretched down to zero for it.
#
# What it is: asciichart, sparkline and node-sparkline draw small charts without a browser (text,
#   text and SVG); react-sparklines draws them as React components.
# Versions: asciichart 1.5.25, sparkline 0.2.0, node-sparkline 1.3.0, react-sparklines 1.7.0 (with
#   react and react-dom 18.3.1), all npm.
# What the docs say: none of the four READMEs has a word on null, gaps or missing values.
# Guess: 4, 5, null, 5, 4 is drawn with a gap, or refused.
# Seen: all four draw just what they draw for 4, 5, 0, 5, 4, since null in arithmetic is 0 in JavaScript.
# Wrong picture for a user: a restart of the observer reads as a fall of the network to nothing, and
#   the real ups and downs between 4 and 5 are pressed flat, as the axis begins at 0.
# Instead: draw each run without gaps by itself, or use a chart that knows gaps (uPlot, Observable
#   Plot); never hand null to these.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund --legacy-peer-deps asciichart@1.5.25 sparkline@0.2.0 node-sparkline@1.3.0 react-sparklines@1.7.0 \
  react@18.3.1 react-dom@18.3.1 >/dev/null
cat > run.cjs <<'JS'
const { createElement } = require('react')
const { renderToStaticMarkup } = require('react-dom/server')
const asciichart = require('asciichart'), sparkline = require('sparkline'), svg = require('node-sparkline')
const { Sparklines, SparklinesLine } = require('react-sparklines')

const draw = {
  asciichart: data => asciichart.plot(data, { height: 4 }),
  sparkline: data => sparkline(data),
  'node-sparkline': data => (svg.default ?? svg)({ values: data, width: 100, height: 20 }),
  'react-sparklines': data => renderToStaticMarkup(createElement(Sparklines, { data, width: 100, height: 20 }, createElement(SparklinesLine))),
}
const gap = [4, 5, null, 5, 4], zero = [4, 5, 0, 5, 4]
let same = true
for (const [name, picture] of Object.entries(draw)) {
  const asZero = picture(gap) === picture(zero)
  console.log(`${name} ${require(`${name}/package.json`).version}`.padEnd(24), 'expected a gap or an error, observed', asZero ? 'the picture of 4 5 0 5 4' : 'another picture')
  same &&= asZero
}
console.log(draw.asciichart(gap))
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
