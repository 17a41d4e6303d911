#!/usr/bin/env bash
# open-graph puts the properties of several pictures into lists that do not belong together: where one picture has no alternative text, it
# gets that of the next, and its size.
#
# What it is: an npm module that reads the Open Graph properties of a page.
# Versions: open-graph 0.2.6, parse-open-graph 0.4.0 for comparison (npm).
# What the spec says: ogp.me, "Arrays": "Put structured properties after you declare their root tag. Whenever another root element is parsed,
#   that structured property is considered to be done and another one is started"; its example has three pictures of which the
#   second has no size.
# Guess: a list of three pictures, the second without a text and a size; or the first picture alone.
# Seen: url is a list of three, alt and width are lists of two: at the second place is the text and the width of the third picture. In the
#   example of the specification 1000, the height of the third, stands beside the second picture. With one picture, or with
#   properties for every one, all is right.
# Why: each property is put into a list of its own under image, without a note of the picture that was open.
# Wrong for a user: the chart of Tuesday is read out as "stars on Wednesday"; a card keeps a place of the wrong size for it.
# Instead: parse-open-graph.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts open-graph@0.2.6 parse-open-graph@0.4.0 >/dev/null 2>&1
cat > run.cjs <<'JS'
const og = require('open-graph'), { parse } = require('parse-open-graph')
for (const p of ['open-graph', 'parse-open-graph']) console.log(p, JSON.parse(require('node:fs').readFileSync(`node_modules/${p}/package.json`)).version)
const pages = {
  'three days': [['og:image', '/mon.png'], ['og:image:alt', 'stars on Monday'], ['og:image:width', '100'], ['og:image', '/tue.png'], ['og:image', '/wed.png'], ['og:image:alt', 'stars on Wednesday'], ['og:image:width', '300']],
  'example of ogp.me': [['og:image', '/rock.jpg'], ['og:image:width', '300'], ['og:image:height', '300'], ['og:image', '/rock2.jpg'], ['og:image', '/rock3.jpg'], ['og:image:height', '1000']],
  'one for each': [['og:image', '/mon.png'], ['og:image:alt', 'stars on Monday'], ['og:image', '/tue.png'], ['og:image:alt', 'stars on Tuesday']],
}
const stated = {
  'three days': 'mon.png: stars on Monday 100; tue.png: stars on Wednesday 300; wed.png: ',
  'example of ogp.me': 'rock.jpg: 300 300; rock2.jpg: 1000; rock3.jpg: ',
  'one for each': 'mon.png: stars on Monday; tue.png: stars on Tuesday',
}
const say = (images) => images.map(({ url, alt, width, height }) => `${url.slice(1)}: ${[alt, width, height].filter(Boolean).join(' ')}`).join('; ')
let same = true
for (const [name, list] of Object.entries(pages)) {
  const html = '<html><head>' + list.map(([property, content]) => `<meta property="${property}" content="${content}">`).join('') + '</head></html>'
  const { image } = og.parse(html), at = (property, i) => [image[property]].flat()[i]
  const expected = say(parse(list.map(([property, content]) => ({ property, content }))).og.image)
  const observed = say(image.url.map((url, i) => ({ url, alt: at('alt', i), width: at('width', i), height: at('height', i) })))
  console.log(`${name}: expected (parse-open-graph) ${expected}\n  observed ${observed}\n  as given ${JSON.stringify(image)}`)
  same &&= observed === stated[name]
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
