#!/usr/bin/env bash
# url-template writes "?account=" for an empty list of accounts, where the RFC leaves the parameter out: "no filter" arrives at the
# server as a filter for the empty name, and the answer is empty.
#
# What it is: an npm module for URI templates, "a simple URI template implementation following the RFC 6570 URI Template
#   specification", which many API clients use.
# Versions: url-template 3.1.1, uri-template-lite 23.4.0 for comparison (npm).
# What the spec says: RFC 6570, 2.3: "A variable defined as a list value is considered undefined if the list contains zero members. A
#   variable defined as an associative array [...] is considered undefined if [...] all member names are associated with undefined
#   values." 3.2.1: an undefined variable is left out, as is the operator if all are.
# Guess: /stars for {?account} and an empty list; /stars?from=1 where another one is given, as with null.
# Seen: /stars?account= and /stars?from=1&account=; the same for an empty object and for {;account}. With the star
#   ({?account*}) and for null it is right, as it is for paths and fragments.
# Why: for ?, & and ; the name and "=" are put in front of the joined members without a look at whether there are any; for the other
#   operators that look is there.
# Wrong number for a user: a page with all boxes unticked, or a list of accounts not yet filled, shows 0 in place of the total; the server
#   did as it was told.
# Instead: uri-template-lite; or pass null for lists and objects without members.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json && npm install --silent --no-audit --no-fund --ignore-scripts url-template@3.1.1 uri-template-lite@23.4.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import http from 'node:http'
import lite from 'uri-template-lite'
import { parseTemplate } from 'url-template'
for (const p of ['url-template', 'uri-template-lite']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
const cases = [
  ['/stars{?account}', { account: [] }, '/stars?account='], ['/stars{?from,account}', { from: 1, account: [] }, '/stars?from=1&account='],
  ['/stars{?account}', { account: {} }, '/stars?account='], ['/stars{;account}', { account: [] }, '/stars;account='],
  ['/stars{?account*}', { account: [] }, '/stars'], ['/stars{?account}', { account: null }, '/stars'], ['/stars{/account}', { account: [] }, '/stars'],
  ['/stars{?account}', { account: ['a', 'b'] }, '/stars?account=a,b']]
let same = true
for (const [template, values, stated] of cases) {
  const [expected, observed] = [lite.expand(template, values), parseTemplate(template).expand(values)]
  console.log(`${template} ${JSON.stringify(values)}: expected (uri-template-lite) ${expected}; observed ${observed}${expected === observed ? '' : ' (!)'}`)
  same &&= observed === stated
}
const counts = { a: 5, b: 7 }
const server = http.createServer((request, response) => {
  const wanted = new URL(request.url, 'http://localhost').searchParams.get('account')?.split(',') ?? Object.keys(counts)
  response.end(String(wanted.reduce((sum, name) => sum + (counts[name] ?? 0), 0)))
}).listen(0, '127.0.0.1', async () => {
  const base = `http://127.0.0.1:${server.address().port}`, total = async (address) => (await fetch(base + address)).text()
  const [expected, observed] = [await total(lite.expand('/stars{?account}', { account: [] })), await total(parseTemplate('/stars{?account}').expand({ account: [] }))]
  console.log(`stars of all accounts: expected ${expected}; observed ${observed}`)
  same &&= expected === '12' && observed === '0'
  console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
})
JS
node run.mjs
