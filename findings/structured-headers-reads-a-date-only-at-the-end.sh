#!/usr/bin/env bash
# structured-headers reads a Date (@1764450000) only where the header ends: before a comma, a bracket, a blank or a parameter
# it refuses the whole header, also the ones that it wrote itself.
#
# What it is: structured-headers reads and writes HTTP Structured Fields (RFC 9651, as its README says, with Dates).
# Versions: structured-headers 2.1.0; structured-field-values 2.0.4 for comparison (npm).
# What the spec says: RFC 9651, 3.3.7 and 4.2.9: a Date is "@" and an integer; like any bare item it may be a member of a list,
#   an inner list or a dictionary, and may have parameters. 4.2: a field that fails is ignored as a whole.
# Guess: both Dates of "@1764450000, @1764453600", and whatever is written can be read back.
# Seen: an error at the comma; the same for a dictionary, an inner list and a Date with a parameter. A single Date and one as
#   the last member are right. The error names white space as allowed, but there is one for a blank too.
# Why: the reader of the number goes on to the end of the text and raises at the first character that is not a digit; that of
#   plain integers stops there.
# Wrong for a user: a header with the beginning and the end of an hour, or with a Date before anything else, does not exist for
#   a client that does as the RFC says with a header it cannot read. Tests with one Date pass.
# Instead: send such times as integers (seconds), or put the Date last; structured-field-values reads all of them.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund structured-headers@2.1.0 structured-field-values@2.0.4 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { decodeDict, decodeList } from 'structured-field-values'
import { parseDictionary, parseList, serializeDictionary, serializeList } from 'structured-headers'
for (const p of ['structured-headers', 'structured-field-values']) console.log(p, JSON.parse(readFileSync(`node_modules/${p}/package.json`)).version)
const [from, to] = [new Date(1764450000e3), new Date(1764453600e3)]
const none = () => new Map()
const list = (value) => [serializeList(value), parseList, decodeList]
const dictionary = (value) => [serializeDictionary(new Map(Object.entries(value))), parseDictionary, decodeDict]
const cases = {
  'one Date': [...list([[from, none()]]), true],
  'a Date after an integer': [...list([[1, none()], [from, none()]]), true],
  'a Date before an integer': [...list([[from, none()], [1, none()]]), false],
  'two Dates': [...list([[from, none()], [to, none()]]), false],
  'an inner list': [...list([[[[from, none()], [to, none()]], none()]]), false],
  'a parameter': [...list([[from, new Map([['n', 1]])]]), false],
  'a dictionary': [...dictionary({ from: [from, none()], to: [to, none()] }), false],
}
const attempt = (read, text) => { try { read(text); return 'read' } catch (error) { return `refused (${error.message})` } }
let same = true
for (const [name, [text, own, other, readable]] of Object.entries(cases)) {
  const [observed, control] = [attempt(own, text), attempt(other, text)]
  console.log(`${name}, written as ${text}: expected read; observed ${observed}; structured-field-values ${control}`)
  same &&= (observed === 'read') === readable && control === 'read'
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
