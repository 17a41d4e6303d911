#!/usr/bin/env bash
# json-canonicalize sorts the keys of plain objects, but not those of what a toJSON method returns: a post
# with an AT Protocol BlobRef gets other bytes, and another hash, than the same post read from its JSON.
#
# What it is: json-canonicalize writes JSON in the canonical form of RFC 8785 (JCS), for hashes and
#   signatures. BlobRef of @atproto/lexicon is how an AT Protocol client holds an image of a record.
# Versions: json-canonicalize 3.0.1, @atproto/lexicon 0.7.19, canonicalize 5.1.0 (npm).
# What the spec says: RFC 8785 section 3.2.3: the properties of every object are sorted, also of inner ones.
#   The README claims this RFC for whatever JSON can hold, and names JSON.stringify, which calls
#   toJSON, as the convention for the rest; it does not speak of toJSON.
# Guess: canonicalize(post) equals canonicalize(JSON.parse(JSON.stringify(post))).
# Seen: the plain keys are sorted, the blob's stay as toJSON gave them ($type, ref, mimeType, size), so the
#   two differ. Parsing the output and canonicalising again changes it. canonicalize, another library
#   for the same RFC, gives the same sorted text both times.
# Why: for a value with toJSON the library takes JSON.stringify(value) as it is.
# Wrong claim for a user: a digest or signature made over the live object fails for everyone who
#   checks it from the JSON, only for records with a blob (or any other object with toJSON).
# Instead: canonicalise JSON.parse(JSON.stringify(value)).
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund json-canonicalize@3.0.1 @atproto/lexicon@0.7.19 canonicalize@5.1.0 >/dev/null
cat > run.mjs <<'JS'
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { jsonToLex } from '@atproto/lexicon'
import { canonicalize } from 'json-canonicalize'
import other from 'canonicalize'
for (const p of ['json-canonicalize', '@atproto/lexicon', 'canonicalize']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
const image = { $type: 'blob', ref: { $link: 'bafkreidykglsfhoixmivffc5uwhcgshx4j465xwqntbmu43nb2dzqwfvae' }, mimeType: 'image/png', size: 5120 }
const plain = { text: 'an hour', alt: ['b', 'a'], n: { z: 1, a: 2 } }
const sha = (text) => createHash('sha256').update(text).digest('hex').slice(0, 12)
let same = true
for (const [name, json, differs] of [['without a blob', plain, false], ['with a blob', { ...plain, image }, true]]) {
  const post = jsonToLex(json)
  const again = JSON.parse(JSON.stringify(post))
  const [live, read] = [canonicalize(post), canonicalize(again)]
  console.log(name + ': expected one hash, observed', sha(live), sha(read), '| canonicalize:', sha(other(post)), sha(other(again)))
  same &&= (live !== read) === differs && other(post) === other(again) && other(again) === read
  same &&= (canonicalize(JSON.parse(live)) !== live) === differs
  if (differs) {
    console.log('keys of the blob: expected $type,mimeType,ref,size observed', Object.keys(JSON.parse(live).image).join())
    same &&= Object.keys(JSON.parse(live).image).join() === '$type,ref,mimeType,size'
  }
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
