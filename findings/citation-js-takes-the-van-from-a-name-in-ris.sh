#!/usr/bin/env bash
# Citation.js leaves "van den" and "de" out of the names of authors when it writes RIS: "van den Berg, Anna" becomes "Berg, Anna", whoever
# reads the file files her under another name, and its own reader does, too.
#
# What it is: turns citations (BibTeX, CSL JSON, CFF, RIS, DOI) into one another, for the "cite this" of pages of data sets (npm).
# Versions: @citation-js/core, @citation-js/plugin-ris and @citation-js/plugin-bibtex, 0.8.2 each (npm).
# What the spec says: CSL 1.0.2, names: dropping and non-dropping particles are parts of the name ("van" in "Vincent van Gogh"). RIS: AU is
#   "Lastname, Firstname, Suffix". The plugin: "adds output support for the RIS format".
# Guess: AU  - van den Berg, Anna, as in the BibTeX of the same record; and after reading either the same name is printed.
# Seen: RIS has "Berg, Anna", and "Alembert, Jean" for Jean d'Alembert, whose particle is a dropping one; suffixes stay. BibTeX has
#   "van den Berg, Anna", but "Alembert, Jean" as well. No warning. After a round trip through RIS the particle is gone for good.
# Why: the RIS converter joins family, given and suffix of each name and does not look at the particles, which its reader of BibTeX and of
#   CFF (name-particle) fills.
# Wrong for a user: a data set's author is another person in the reference managers of all who cite it by the RIS link, and the same work
#   is counted under two names.
# Instead: put the particle in front of the family name before format('ris').
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm i --silent --no-audit --no-fund --ignore-scripts @citation-js/core@0.8.2 @citation-js/plugin-ris@0.8.2 @citation-js/plugin-bibtex@0.8.2 >/dev/null
cat > run.cjs <<'JS'
const { Cite } = require('@citation-js/core')
for (const p of ['ris', 'bibtex']) require('@citation-js/plugin-' + p)
console.log(['core', 'plugin-ris', 'plugin-bibtex'].map(p => p + ' ' + JSON.parse(require('fs').readFileSync(`node_modules/@citation-js/${p}/package.json`)).version).join(', '))
const bibtex = '@misc{hours, author = {van den Berg, Anna and Doe, Jr., John and Smith, Eve}, title = {Hours}, year = {2026}}'
const record = new Cite(bibtex), names = (cite) => cite.data[0].author.map(a => [a['non-dropping-particle'], a.family].filter(Boolean).join(' ') + ', ' + a.given)
const authors = (text) => [...text.matchAll(/^AU {2}- (.*)$/gm)].map(m => m[1])
const ris = authors(record.format('ris')), again = names(new Cite(record.format('ris'))), viaBibtex = names(new Cite(record.format('bibtex')))
const dropping = [{ type: 'dataset', id: 'x', title: 'Hours', author: [{ family: 'Alembert', given: 'Jean', 'dropping-particle': "d'" }] }]
const alembert = authors(new Cite(dropping).format('ris')).join()
console.log('read from BibTeX     ', names(record).join(' | '))
console.log('RIS                  ', ris.join(' | '))
console.log('read again from RIS  ', again.join(' | '))
console.log('read again from BibTeX', viaBibtex.join(' | '))
console.log("Jean d'Alembert in RIS", alembert, '- in BibTeX', /author = \{(.*)\}/.exec(new Cite(dropping).format('bibtex'))[1])
const same = names(record)[0] === 'van den Berg, Anna' && ris.join('|') === 'Berg, Anna|Doe, John, Jr.|Smith, Eve' && again[0] === 'Berg, Anna'
  && viaBibtex[0] === 'van den Berg, Anna' && alembert === 'Alembert, Jean'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
