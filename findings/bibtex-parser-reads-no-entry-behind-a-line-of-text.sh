#!/usr/bin/env bash
# bibtex-parser stops without an error at the first line of plain text between entries: with one in front of them the bibliography is
# empty. It and @orcid/bibtex-parse-js also eat the blank in "Hours of" # " stars".
#
# What it is: both turn BibTeX into objects, in browsers and in Node (npm).
# Versions: bibtex-parser 0.0.0, @orcid/bibtex-parse-js 0.0.25; @citation-js/plugin-bibtex 0.8.2 for comparison (npm).
# What the docs say: BibTeX takes everything outside of an entry for a comment, so that text without an @ can stand anywhere between
#   entries; # joins two strings, blanks included ("BibTeXing", 1988). The READMEs: "A pure JavaScript BibTeX parser", "A JavaScript
#   library that parses BibTeX to JSON".
# Guess: two entries, a and b, with and without a remark; title "Hours of stars".
# Seen: bibtex-parser: {} with a remark in front of both, {a} with one between them, both if the remark begins with %. The others have a
#   and b in all cases. "Hours of" # " stars" is "Hours ofstars" in both parsers, and @citation-js has "Hours of stars".
# Why: after an entry the next must follow, or the loop ends; blanks are skipped after a quotation mark has been opened.
# Wrong for a user: a list of publications made of a .bib file that says at its top which program wrote it is empty, or ends in the
#   middle, with nothing in a log; titles have two words in one.
# Instead: @citation-js/plugin-bibtex.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true}' > package.json
npm i --silent --no-audit --no-fund --ignore-scripts bibtex-parser@0.0.0 @orcid/bibtex-parse-js@0.0.25 @citation-js/core@0.8.2 @citation-js/plugin-bibtex@0.8.2 >/dev/null
cat > run.cjs <<'JS'
const first = require('bibtex-parser'), second = require('@orcid/bibtex-parse-js'), { Cite } = require('@citation-js/core')
require('@citation-js/plugin-bibtex')
for (const n of ['bibtex-parser', '@orcid/bibtex-parse-js', '@citation-js/plugin-bibtex']) console.log(n, JSON.parse(require('fs').readFileSync(`node_modules/${n}/package.json`)).version)
const a = '@misc{a, title={A}}\n', b = '@misc{b, title={B}}\n', text = 'Written by a program in 2026.\n'
const files = { 'no text': a + b, 'text in front': text + a + b, 'text between': a + text + b, '% in front': '% ' + text + a + b }
const seen = {}
for (const [name, bib] of Object.entries(files)) {
  seen[name] = [new Cite(bib).data.map(e => e['citation-key']).join(), Object.keys(first(bib)).join().toLowerCase(), second.toJSON(bib).map(e => e.citationKey).join()]
  console.log(name.padEnd(13), 'expected', seen[name][0], ' bibtex-parser', JSON.stringify(seen[name][1]), ' @orcid/bibtex-parse-js', seen[name][2])
}
const joined = '@misc{a, title = "Hours of" # " stars"}\n'
const titles = [new Cite(joined).data[0].title, first(joined).A.TITLE, second.toJSON(joined)[0].entryTags.title]
console.log('joined title: expected', titles[0], ' bibtex-parser', titles[1], ' @orcid/bibtex-parse-js', titles[2])
const same = Object.values(seen).every(s => s[0] === 'a,b' && s[2] === 'a,b') && Object.values(seen).map(s => s[1]).join('|') === 'a,b||a|a,b' && titles.join('|') === 'Hours of stars|Hours ofstars|Hours ofstars'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
