#!/usr/bin/env bash
# accept-language-negotiator's lookup answers "en" for a reader of en-GB where only en-US and de
# exist, instead of one of them or the default; and it sorts the list it is given.
#
# What it is: an npm module for Accept-Language, "RFC4647 compliant": lookup(range, tags, default).
# Versions: accept-language-negotiator 1.2.1; @formatjs/intl-localematcher 0.6.1 to compare (npm).
# What the spec says: RFC 4647 section 3.4: lookup cuts subtags off the end of the range (en-GB,
#   en) until it equals one of the available tags, else the default is returned; the result is
#   always an available tag or the default.
# Guess: "de", the default: neither en-GB nor en is in the list.
# Seen: the common beginning of the range and of any tag is returned, "en", though no text is under
#   that name. The order of the caller's array changes too (longest tag first), so that its
#   first element is no longer the publisher's first choice.
# Wrong claim for a user: names of labels are looked up under "en", there are none, and the reader
#   gets bare identifiers or an error page, not the German default nor the American English.
# Instead: check includes() on the result, and hand over a copy of the list.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
npm init -y >/dev/null && npm i -s --no-audit --no-fund --ignore-scripts accept-language-negotiator@1.2.1 @formatjs/intl-localematcher@0.6.1
cat > run.js <<'JS'
const fs = require('fs'), { lookup } = require('accept-language-negotiator'), { match } = require('@formatjs/intl-localematcher')
console.log('accept-language-negotiator', JSON.parse(fs.readFileSync('node_modules/accept-language-negotiator/package.json')).version)
function rfc4647 (range, tags, fallback) {
  for (const one of range.split(',').map(s => s.trim().split(';')[0])) {
    for (let parts = one.split('-'); parts.length; parts.pop()) {
      const hit = tags.find(t => t.toLowerCase() === parts.join('-').toLowerCase())
      if (hit) return hit
    }
  }
  return fallback
}
let same = true
for (const [range, tags, stated] of [['en-GB', ['de', 'en-US'], 'en'], ['pt-PT', ['de', 'pt-BR'], 'pt'], ['en-GB', ['de', 'en'], 'en'], ['fr', ['de', 'en-US'], 'de']]) {
  const list = [...tags], got = lookup(range, list, 'de'), want = rfc4647(range, tags, 'de')
  console.log(range.padEnd(6), JSON.stringify(tags).padEnd(16), 'expected', want, 'observed', got, tags.includes(got) ? '' : '(not available)', ' list afterwards', JSON.stringify(list), ' intl-localematcher', match([range], tags, 'de'))
  same &&= got === stated && (stated === 'de' || stated === 'en' && tags.includes('en') ? got === want : got !== want)
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.js
