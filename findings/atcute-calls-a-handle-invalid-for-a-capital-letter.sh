#!/usr/bin/env bash
# @atcute/identity-resolver gives "handle.invalid" for an account that was asked for as Alice.example.com, though all was found and the two
# directions agree: it compares the typed handle with the one in the DID document letter by letter.
#
# What it is: LocalActorResolver turns what somebody typed, a handle or a DID, into DID, verified handle and PDS.
# Versions: @atcute/identity-resolver 2.0.2, @atcute/identity 2.0.2; @atproto-labs/identity-resolver 0.3.6 as the second opinion (npm).
# What the spec says: atproto.com, Handle: "Handles are not case-sensitive, and should be normalized to lowercase"; "BlueskyWeb.xyz should be
#   normalized, stored, and displayed as blueskyweb.xyz"; handle.invalid is for "no bi-directionally valid handle for the given DID".
# Guess: alice.example.com, for any spelling.
# Seen: handle.invalid, with the right DID and PDS, for Alice.example.com and ALICE.EXAMPLE.COM; and for every question if the DID
#   document has a capital letter, when that is asked for in lower case. The second opinion answers alice.example.com in all cases.
# Wrong for a user: phones write the first letter of a field as a capital: a sign-in page or a bot then says that the account's handle is
#   broken, and shows or stores "handle.invalid" for it.
# Instead: call toLowerCase() on what was typed, and on the handle of the document before you compare them yourself.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atcute/identity@2.0.2 @atcute/identity-resolver@2.0.2 @atproto-labs/identity-resolver@0.3.6
cat > run.mjs <<'JS'
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { LocalActorResolver, WebDidDocumentResolver, WellKnownHandleResolver } from '@atcute/identity-resolver';
import { AtprotoIdentityResolver } from '@atproto-labs/identity-resolver';
for (const name of ['@atcute/identity-resolver', '@atproto-labs/identity-resolver']) console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
const did = 'did:web:alice.example.com'; let written;
const site = createServer((req, res) => { // plays alice.example.com; names of hosts have no case
  if (req.url.endsWith('/atproto-did')) return res.writeHead(200, { 'content-type': 'text/plain' }).end(did);
  res.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify({ '@context': ['https://www.w3.org/ns/did/v1'], id: did, alsoKnownAs: ['at://' + written],
    service: [{ id: '#atproto_pds', type: 'AtprotoPersonalDataServer', serviceEndpoint: 'https://pds.example.com' }] }));
});
await new Promise((ok) => site.listen(0, '127.0.0.1', ok));
const local = (url, init) => fetch(`http://127.0.0.1:${site.address().port}${new URL(url).pathname}`, init);
const handleResolver = new WellKnownHandleResolver({ fetch: local }), didDocumentResolver = new WebDidDocumentResolver({ fetch: local });
const first = new LocalActorResolver({ handleResolver, didDocumentResolver }), second = new AtprotoIdentityResolver(didDocumentResolver, handleResolver);
const seen = [];
for (written of ['alice.example.com', 'Alice.example.com']) for (const typed of ['alice.example.com', 'Alice.example.com', 'ALICE.EXAMPLE.COM']) {
  const actor = await first.resolve(typed), other = await second.resolve(typed);
  console.log(`document ${written}, typed ${typed} ->`, actor.handle, actor.did, actor.pds, '| second opinion', other.handle);
  seen.push(actor.handle === 'handle.invalid' ? 'no' : 'yes', other.handle);
}
site.close(); site.closeAllConnections();
const good = 'alice.example.com';
const same = seen.filter((_, i) => i % 2 === 0).join() === 'yes,no,no,no,yes,no' && seen.filter((_, i) => i % 2).every((h) => h === good);
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
