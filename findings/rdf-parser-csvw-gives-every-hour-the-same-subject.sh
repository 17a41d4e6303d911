#!/usr/bin/env bash
# Where a CSVW column has a name and a different title, @zazuko/rdf-parser-csvw fills the row template
# "#{hour}" with nothing: every hour of the file gets the same subject, and the counts of all hours
# become counts of one.
#
# What it is: a CSV on the Web parser, which turns a CSV and its metadata into RDF.
# Versions: @zazuko/rdf-parser-csvw 0.17.0, n3 2.13.12 (reads the metadata), @rdfjs/dataset 2.0.3 (npm).
# What the spec says: W3C "Metadata Vocabulary for Tabular Data", section "URI Template Properties":
#   the variables of a template are the names of the columns; titles are natural language and
#   serve to find the column in the header line.
# Guess: three hours give three subjects, .../hours.csv#2026-11-29T21:00:00Z and so on, or an error that
#   says the variable {hour} is unknown.
# Seen: with the title "Hour (UTC)" all three have the subject .../hours.csv# ; that
#   subject has every hour and every count, and nothing says which count belongs to which hour. Two hours with the
#   same count leave one statement in a graph store. With a title equal to the name: three subjects.
# Why: rows are kept under the titles of the header line, and the templates are filled from those.
# Wrong number for a user: the total over the graph misses every repeated count; "events of this
#   hour" cannot be asked any more. Typed and without an error.
# Instead: make title and name the same, or rename the header cells to the names before parsing.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm install --silent --no-audit --no-fund @zazuko/rdf-parser-csvw@0.17.0 n3@2.13.12 @rdfjs/dataset@2.0.3 >/dev/null
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs'
import { Readable } from 'node:stream'
import Parser from '@zazuko/rdf-parser-csvw'
import { Parser as Turtle } from 'n3'
import dataset from '@rdfjs/dataset'
console.log('@zazuko/rdf-parser-csvw', JSON.parse(readFileSync('node_modules/@zazuko/rdf-parser-csvw/package.json')).version)
const base = 'http://example.org/hours.csv'
const hours = [['2026-11-29T21:00:00Z', 40], ['2026-11-29T22:00:00Z', 40], ['2026-11-29T23:00:00Z', 7]]
async function read(title) {
  const metadata = dataset.dataset(new Turtle({ baseIRI: base }).parse(`
    @prefix csvw: <http://www.w3.org/ns/csvw#> . @prefix xsd: <http://www.w3.org/2001/XMLSchema#> .
    [] csvw:url "hours.csv"; csvw:tableSchema [ csvw:aboutUrl "#{hour}"; csvw:column (
      [ csvw:name "hour"; csvw:title "${title}"; csvw:datatype xsd:dateTime ]
      [ csvw:name "events"; csvw:title "events"; csvw:datatype xsd:integer ] ) ] .`))
  const csv = [`${title},events`, ...hours.map((h) => h.join(','))].join('\r\n') + '\r\n'
  const subjects = new Set(), statements = new Map()
  for await (const q of new Parser({ metadata, baseIRI: base }).import(Readable.from([csv]))) {
    if (q.predicate.value !== base + '#events') continue
    subjects.add(q.subject.value)
    statements.set(q.subject.value + ' ' + q.object.value, Number(q.object.value))
  }
  return [subjects.size, [...statements.values()].reduce((a, b) => a + b, 0), [...subjects][0]]
}
let same = true
for (const [title, seen] of [['hour', [3, 87]], ['Hour (UTC)', [1, 47]]]) {
  const [subjects, sum, first] = await read(title)
  console.log(`title "${title}":`.padEnd(20), 'expected 3 subjects, sum 87; observed', subjects, 'subjects, sum', sum, 'first', first)
  same &&= subjects === seen[0] && sum === seen[1]
}
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.mjs
