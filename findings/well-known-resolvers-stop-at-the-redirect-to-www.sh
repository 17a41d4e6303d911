#!/usr/bin/env bash
# A handle whose domain redirects, such as example.com to www.example.com, does not exist for the resolvers of @atcute and of the OAuth
# clients of the AT Protocol: they refuse redirects, which the specification allows; the older resolver of the same authors follows them.
#
# What it is: three libraries for JavaScript that look up the DID of a handle at https://HANDLE/.well-known/atproto-did.
# Versions: @atcute/identity-resolver 2.0.2, @atproto-labs/handle-resolver 0.4.9; @atproto/identity 0.4.12 as the second opinion (npm).
# What the spec says: atproto.com, Handle, "HTTPS well-known Method": "HTTP redirects (eg, 301, 302) are allowed, up to a reasonable number
#   of redirect hops." READMEs: "handles can be resolved via DNS TXT records or HTTP well-known endpoints".
# Guess: the DID is found with and without one redirect, of any of the four kinds.
# Seen: without a redirect all three find it. With one, @atcute raises FailedHandleResolutionError ("unexpected redirect") and
#   @atproto-labs says null, "does not resolve", the same as for a handle that nobody has; @atproto/identity finds it.
# Wrong for a user: one service knows the account by its handle, the next shows handle.invalid or turns the person away at the sign-in; web
#   hosts that send the bare domain to www (or back) do so for every path, and no test on one's own machine shows it.
# Instead: as the owner: use the DNS record, or exempt /.well-known/ from the redirect; as the reader: pass a fetch that follows a few redirects.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atcute/identity-resolver@2.0.2 @atproto-labs/handle-resolver@0.4.9 @atproto/identity@0.4.12 2>/dev/null
cat > run.mjs <<'JS'
import { createServer } from 'node:http';
import { readFileSync } from 'node:fs';
import { WellKnownHandleResolver as Atcute } from '@atcute/identity-resolver';
import { AtprotoHandleResolver } from '@atproto-labs/handle-resolver';
import { HandleResolver as Older } from '@atproto/identity';
for (const name of ['@atcute/identity-resolver', '@atproto-labs/handle-resolver', '@atproto/identity'])
  console.log(name, JSON.parse(readFileSync(`node_modules/${name}/package.json`)).version);
const did = 'did:plc:z72i7hdynmk6r22z27h6tvur'; let status = 200;
const site = createServer((req, res) => { // plays alice.example.com, which redirects
  if (status === 200 || req.url.startsWith('/www/')) res.writeHead(200, { 'content-type': 'text/plain' }).end(did + '\n');
  else res.writeHead(status, { location: '/www' + req.url }).end();
});
await new Promise((ok) => site.listen(0, '127.0.0.1', ok));
const real = globalThis.fetch; // every other setting of the caller is kept, only the host is loopback
const fetch = (url, init) => real(`http://127.0.0.1:${site.address().port}${new URL(url.url ?? url).pathname}`, init);
globalThis.fetch = fetch;
const seen = {};
for (status of [200, 301, 302, 307, 308]) {
  seen[status] = [];
  for (const [name, look] of [['@atcute', () => new Atcute({ fetch }).resolve('alice.example.com')], ['@atproto-labs', () => new AtprotoHandleResolver({ fetch, resolveTxt: async () => null }).resolve('alice.example.com')],
    ['@atproto/identity', () => new Older().resolveHttp('alice.example.com')]])
    seen[status].push(await look().then(String, (error) => `${error.name}: ${error.cause?.message}`));
  console.log(status, '->', seen[status].join(' | '));
}
site.close(); site.closeAllConnections();
const same = seen[200].every((s) => s === did) && [301, 302, 307, 308].every((n) => seen[n][0].endsWith('unexpected redirect') && seen[n][1] === 'null' && seen[n][2] === did);
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1);
JS
node run.mjs
