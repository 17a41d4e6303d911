#!/usr/bin/env bash
# WHAT: the label server @skyware/labeler always returns a cursor from queryLabels, on the empty page after the last label it is
#       "0", and asking with "0" gives the first page again.
# VERSIONS: @skyware/labeler 0.2.0 (SQLite through @libsql/client).
# WHAT THE SPEC SAYS: XRPC spec, "Cursors and Pagination": a client goes on as long as a response holds a cursor; a response without
#       one marks the end. The lexicon of queryLabels makes cursor optional.
# GUESS: five labels read with limit 2 take three pages (or four), the last without a cursor.
# SEEN: a reader that follows the rule gets the labels over and over; the walk is cut here after twelve pages.
# WHY IT HURTS: the count of labels of such a server is whatever the reader's page limit allows, a multiple of the truth; each label
#       seems re-issued; and a reader that keeps "the last cursor" to poll for news keeps "0" and re-reads everything.
# INSTEAD: stop at an empty page or when the cursor does not grow, and never store the cursor of an empty page.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @skyware/labeler@0.2.0
cat > probe.js <<'JS'
import { LabelerServer } from '@skyware/labeler';
const server = new LabelerServer({ did: 'did:plc:aaaabbbbccccddddeeeeffff', signingKey: '11'.repeat(32), dbPath: 'labels.db' });
for (let i = 1; i <= 5; i++) await server.createLabel({ uri: 'did:plc:gggghhhhiiiijjjjkkkkllll', val: `value${i}` });
await new Promise((ok, no) => server.start({ port: 0, host: '127.0.0.1' }, (e) => (e ? no(e) : ok())));
const { port } = server.app.server.address();
let cursor, pages = 0, read = 0;
const cursors = [];
do {
	const q = new URLSearchParams({ uriPatterns: '*', limit: '2' });
	if (cursor !== undefined) q.set('cursor', cursor);
	const page = await (await fetch(`http://127.0.0.1:${port}/xrpc/com.atproto.label.queryLabels?${q}`)).json();
	pages++;
	read += page.labels.length;
	cursor = page.cursor;
	cursors.push(`${page.labels.length}:${cursor}`);
} while (cursor !== undefined && pages < 12);
console.log('@skyware/labeler 0.2.0; five labels, limit 2');
console.log('labels:cursor by page', cursors.join(' '));
console.log('expected 5 labels in 3 or 4 pages; observed', read, 'labels in', pages, 'pages, and no end');
process.exit(cursors.slice(0, 5).join(' ') === '2:2 2:4 1:5 0:0 2:2' && pages === 12 && read === 15 ? 0 : 1);
JS
if timeout 40 node probe.js; then echo 'STILL SO: the last page points to the first'; else echo 'CHANGED'; exit 1; fi
