#!/usr/bin/env bash
# WHAT: asked for a subject whose URI holds an underscore or a percent sign, the label server @skyware/labeler answers
#       that there are no labels, though it has one; asked for one spelling of a record key, it also returns labels of
#       the other-case spelling.
# VERSIONS: @skyware/labeler 0.2.0 (SQLite through @libsql/client).
# WHAT THE SPEC SAYS: com.atproto.label.queryLabels, uriPatterns: each is a full URI or a prefix ending in "*". Record
#       keys may hold "_" (record key spec) and are case-sensitive (AT URI spec, "Normalization"); did:web ports are
#       written with "%3A" (DID spec).
# GUESS: a full URI finds exactly the labels of that URI.
# SEEN: patterns are turned into SQL LIKE. "_" gets a backslash before it, but no escape character is declared, so SQLite
#       looks for a real backslash; "%" is simply cut out; and LIKE ignores case for ASCII letters. subscribeLabels on
#       the same server does give all the labels.
# WHY IT HURTS: record keys that are not TIDs often hold an underscore ("my_list", encoded ids): a client that checks such
#       a subject before showing it finds it unlabelled. A walk over everything ("*") shows the label, so the two answers of one server differ.
# INSTEAD: take the labels from subscribeLabels, or ask with a prefix that ends before the first "_" or "%" and filter the
#       answer yourself, comparing byte for byte.
set -euo pipefail
command -v node >/dev/null; command -v npm >/dev/null
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT
cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund @skyware/labeler@0.2.0
cat > probe.js <<'JS'
import { LabelerServer } from '@skyware/labeler';
const server = new LabelerServer({ did: 'did:plc:aaaabbbbccccddddeeeeffff', signingKey: '11'.repeat(32), dbPath: 'labels.db' });
const base = 'at://did:plc:gggghhhhiiiijjjjkkkkllll/com.example.list/';
const uris = {
	plain: base + 'mylist',
	underscore: base + 'my_list',
	percent: 'did:web:localhost%3A2583',
	lower: base + 'abc',
	upper: base + 'ABC',
};
for (const [name, uri] of Object.entries(uris)) await server.createLabel({ uri, val: name });
await new Promise((ok, no) => server.start({ port: 0, host: '127.0.0.1' }, (e) => (e ? no(e) : ok())));
const { port } = server.app.server.address();
const ask = async (p) => {
	const r = await fetch(`http://127.0.0.1:${port}/xrpc/com.atproto.label.queryLabels?uriPatterns=${encodeURIComponent(p)}`);
	return (await r.json()).labels.map((l) => l.val).join(',');
};
console.log('@skyware/labeler 0.2.0');
const got = {};
for (const [name, uri] of Object.entries(uris)) {
	got[name] = await ask(uri);
	console.log(name.padEnd(11), 'expected', name.padEnd(11), 'observed', got[name] || '(none)');
}
const all = await ask('*');
console.log('all labels  expected plain,underscore,percent,lower,upper observed', all);
const still = got.plain === 'plain' && got.underscore === '' && got.percent === '' && got.upper === 'lower,upper' && got.lower === 'lower,upper';
process.exit(still && all === Object.keys(uris).join() ? 0 : 1);
JS
if timeout 40 node probe.js; then echo 'STILL SO: exact lookups miss and mix subjects'; else echo 'CHANGED'; exit 1; fi
