#!/usr/bin/env bash
# svg-to-jsx sorts the elements of a drawing by name, so that a mark on top of a bar comes to lie behind it; and it leaves out
# descriptions, links and labels for screen readers.
#
# What it is: turns SVG into JSX for React components; the base of loaders for gulp and webpack.
# Versions: svg-to-jsx 1.0.4; @resvg/resvg-js 2.6.2 draws, @svgr/core 8.1.0 with its plugin jsx for comparison (npm).
# What the spec says: SVG 2, 3.3 (rendering order): elements are painted in the order of the document, the first ones at the bottom.
#   5.8: title and desc carry the text alternative; WAI-ARIA attributes are allowed on all elements. React has supported all of SVG
#   since version 15; the README names only use as not allowed.
# Guess: the same elements in the same order, with attributes named as in React.
# Seen: bar (rect), shadow (circle), mark (rect) becomes bar, mark, shadow: the middle of the drawing is the color of the shadow. The
#   letters of "5 <tspan>of</tspan> 6" come out as "5 6" before "of". desc, a with all that is in it, switch and aria-labelledby
#   are missing. Nothing is said.
# Why: children are put into a dictionary by name, which keeps the place of the first of each name; and unknown names are dropped
#   by lists of what React could do in 2014.
# Wrong for a user: a threshold line, a gap or a marker vanishes behind bars, legends read in another order, a linked chart loses
#   its bars, a described one its description.
# Instead: @svgr/core.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts svg-to-jsx@1.0.4 @resvg/resvg-js@2.6.2 @svgr/core@8.1.0 @svgr/plugin-jsx@8.1.0 >/dev/null
cat > run.cjs <<'JS'
const toJsx = require('svg-to-jsx'), { Resvg } = require('@resvg/resvg-js'), { transform } = require('@svgr/core')
console.log(['svg-to-jsx', '@resvg/resvg-js', '@svgr/core'].map(n => n + ' ' + JSON.parse(require('fs').readFileSync(`node_modules/${n}/package.json`)).version).join(', '))
const drawing = '<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"><rect id="bar" width="9" height="9" fill="#0000ff"/>'
  + '<circle id="shadow" cx="4" cy="4" r="4" fill="#888888"/><rect id="mark" x="2" y="2" width="5" height="5" fill="#ff0000"/></svg>'
const chart = '<svg xmlns="http://www.w3.org/2000/svg" aria-labelledby="t d"><title id="t">Hours</title><desc id="d">Calm all day</desc>'
  + '<a href="/hour"><text>noon</text></a><text>5 <tspan>of</tspan> 6</text></svg>'
const middle = svg => { const { pixels, width } = new Resvg(svg).render(); const i = 4 * (4 * width + 4); return '#' + Buffer.from(pixels.subarray(i, i + 3)).toString('hex') }
const order = svg => [...svg.matchAll(/id="(bar|shadow|mark)"/g)].map(m => m[1]).join(' ')
;(async () => {
  const jsx = await toJsx(drawing), other = await transform(drawing, { plugins: ['@svgr/plugin-jsx'] })
  console.log('before:    ', order(drawing), middle(drawing)); console.log('svg-to-jsx:', order(jsx), middle(jsx)); console.log('svgr:      ', order(other))
  const texts = (await toJsx(chart)).replace(/\s+/g, ' '); console.log(texts)
  const svgr = (await transform(chart, { plugins: ['@svgr/plugin-jsx'] })).replace(/\s+/g, ' ')
  const kept = s => ['<desc', 'Calm all day', '<a ', 'noon', 'aria-labelledby'].filter(x => s.includes(x))
  console.log('kept: svg-to-jsx', kept(texts), 'svgr', kept(svgr))
  const same = order(jsx) === 'bar mark shadow' && middle(drawing) === '#ff0000' && middle(jsx) === '#888888' && order(other) === order(drawing)
    && kept(texts).length === 0 && kept(svgr).length === 5 && /5 6 ?<tspan>of/.test(texts)
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})()
JS
node run.cjs
