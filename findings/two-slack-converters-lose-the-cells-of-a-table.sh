#!/usr/bin/env bash
# Of a table in HTML, slackify-html makes one number of neighbouring cells, 12 of 1 and 2, and html-to-mrkdwn makes nothing at all.
#
# What it is: both turn HTML into the text of a Slack message, to bring digests, pages and feeds there (npm).
# Versions: slackify-html 1.0.1, html-to-mrkdwn 3.0.0; html-to-text 9.0.5 for comparison (npm).
# What the docs say: slackify-html: "convert simple html to slack markdown"; html-to-mrkdwn: "Convert HTML to Slack flavored mrkdwn"; no
#   word on tables, lists or breaks. HTML: li, p, tr are blocks, td are cells of their own and br is a line break. Slack wants &, < and >
#   of a text as &amp;, &lt; and &gt;.
# Guess: every cell, item and line is there, and something stands between two of them.
# Seen: slackify-html: "hourstars12131415", "57" for a list of 5 and 7, "1213" for two lines, "12" for two paragraphs; and &lt; becomes a
#   bare <. html-to-mrkdwn has lists, lines and paragraphs right; a table, with or without a head, is left out without a word.
# Why: slackify-html joins the text of all elements that it does not know; html-to-mrkdwn makes Markdown first, in which the table is
#   written, and its writer of mrkdwn has no rule for one.
# Wrong number for a user: 1 star and 2 forks arrive as 12; a list of 5 and 7 as 57. A report that is a table arrives empty.
# Instead: html-to-text with the table's option, in a code block.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm i --silent --no-audit --no-fund --ignore-scripts slackify-html@1.0.1 html-to-mrkdwn@3.0.0 html-to-text@9.0.5 >/dev/null
cat > run.cjs <<'JS'
const slackify = require('slackify-html'), toMrkdwn = require('html-to-mrkdwn'), { convert } = require('html-to-text')
console.log(['slackify-html', 'html-to-mrkdwn', 'html-to-text'].map(n => n + ' ' + JSON.parse(require('fs').readFileSync(`node_modules/${n}/package.json`)).version).join(', '))
const pages = {
  'bold and link': 'this <a href="https://example.org">link</a> is <b>important</b>',
  'two lines': '12<br>13', 'two paragraphs': '<p>1</p><p>2</p>', list: '<ul><li>5</li><li>7</li></ul>',
  'table with head': '<table><thead><tr><th>hour</th><th>stars</th></tr></thead><tbody><tr><td>12</td><td>13</td></tr><tr><td>14</td><td>15</td></tr></tbody></table>',
  'table without': '<p>Stars</p><table><tr><td>1</td><td>2</td></tr></table>', comparison: '<p>stars &lt; 5</p>'
}
const seen = {}
for (const [name, html] of Object.entries(pages)) {
  seen[name] = [convert(html, { tables: true, selectors: [{ selector: 'table', format: 'dataTable' }] }), slackify(html), toMrkdwn(html).text]
  console.log(name.padEnd(16), 'html-to-text', JSON.stringify(seen[name][0]), '\n', ''.padEnd(15), 'slackify-html', JSON.stringify(seen[name][1]), ' html-to-mrkdwn', JSON.stringify(seen[name][2]))
}
const glued = (name, text) => seen[name][1] === text
const same = seen['bold and link'].slice(1).every(t => t === 'this <https://example.org|link> is *important*') && glued('two lines', '1213') && glued('two paragraphs', '12')
  && glued('list', '57') && glued('table with head', 'hourstars12131415') && glued('table without', 'Stars12') && glued('comparison', 'stars < 5')
  && seen['table with head'][2] === '' && seen['table without'][2] === 'Stars' && seen.list[2] === '• 5\n• 7' && seen.comparison[2] === 'stars &lt; 5'
  && /12\s+13\s+14\s+15/.test(seen['table with head'][0]) && /1\s+2/.test(seen['table without'][0])
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
