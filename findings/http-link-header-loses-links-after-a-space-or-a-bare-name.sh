#!/usr/bin/env bash
# http-link-header loses a link when a space stands before the comma, and the relation of a link when a parameter without a
# value stands before it. Both are put away as parameters with names such as ", </b>; rel".
#
# What it is: the npm parser of Link headers that follows RFC 8288, as its description says.
# Versions: http-link-header 1.1.4; parse-link-header 2.0.0 for comparison (npm).
# What the spec says: RFC 8288, 3: a parameter is a token with, optionally, a value ("crossorigin" of a preload link is one). RFC
#   9110, 5.6.1: members of a list are parted by a comma with optional white space on both sides, and a reader must
#   accept empty members.
# Guess: two links from '</a>; rel="next" , </b>; rel="last"'; "next" from '</a>; crossorigin; rel="next"'.
# Seen: one link, with a parameter named ', </b>; rel' of value "last"; and a link without any rel, with one named
#   'crossorigin; rel' of value "next": has('rel', 'next') is false. Neither raises an error; an empty member does.
#   parse-link-header is right in both.
# Why: after a quoted value, and after a name, the reader runs on to the next "=" or the next character it waits for.
# Wrong number for a user: the last page or the next page is not found; who follows "next" stops early, and who reads the
#   number of pages from "last" sees one page.
# Instead: parse-link-header, or take the white space before commas out first.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund http-link-header@1.1.4 parse-link-header@2.0.0 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import LinkHeader from 'http-link-header'
import other from 'parse-link-header'
for (const p of ['http-link-header', 'parse-link-header']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
const cases = [
  ['</a>; rel="next", </b>; rel="last"', 'last /b, next /a', 'last /b, next /a'],
  ['</a>; rel="next" , </b>; rel="last"', 'last /b, next /a', 'next /a'],
  ['</a>; crossorigin; rel="next"', 'next /a', 'undefined /a'],
]
const links = (found) => found.map(({ rel, uri, url }) => `${rel} ${uri ?? url}`).sort().join(', ')
let same = true
for (const [header, expected, stated] of cases) {
  const parsed = LinkHeader.parse(header)
  const [observed, control] = [links(parsed.refs), links(Object.values(other(header)))]
  console.log(`${header}\n  expected ${expected}; observed ${observed} of ${JSON.stringify(parsed.refs)}; parse-link-header ${control}`)
  same &&= observed === stated && control === expected
}
same &&= LinkHeader.parse(cases[1][0]).refs[0][', </b>; rel'] === 'last'
same &&= LinkHeader.parse(cases[2][0]).refs[0]['crossorigin; rel'] === 'next' && !LinkHeader.parse(cases[2][0]).has('rel', 'next')
try {
  LinkHeader.parse(', </a>; rel="next"'); same = false
} catch (error) {
  console.log(`an empty member: expected next /a; observed ${error.message}`)
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
