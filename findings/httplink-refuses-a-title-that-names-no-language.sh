#!/usr/bin/env bash
# The Python package httplink refuses a whole Link header for a title* that names no language, and for any parameter
# without a value, though it is made for RFC 8288, which allows both.
#
# What it is: httplink reads and writes Link headers.
# Versions: httplink 0.2.0 (PyPI); http-link-header 1.1.4 (npm) for the first, parse-link-header 2.0.0 (npm) for the second.
# What the spec says: RFC 8288, 3.4.1: title* is written as in RFC 8187, whose 3.2.1 has the language between the quotes as optional:
#   UTF-8''text. RFC 8288, 3: the value of a parameter is optional too. Appendix B.3 has both in its algorithm.
# Guess: two links, "next" and "last", in all four cases.
# Seen: with UTF-8'en' two links; with UTF-8'' ValueError "Bad extended value", for all links of the header. With "crossorigin"
#   after rel ValueError "Bad link", before rel "The rel parameter MUST be present", though it is.
# Why: the pattern of an extended value wants a language of at least one sign, that of a parameter a value.
# Wrong for a user: a server that does not know the language of a title writes UTF-8'', as an example of RFC 8187 does. A client
#   that takes an error for "no more pages" stops at the first page whose title has a letter outside of ASCII.
# Instead: http-link-header or parse-link-header, as they suit (each has gaps of its own); or follow a cursor from the body.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true,"type":"module"}' > package.json
npm install --silent --no-audit --no-fund http-link-header@1.1.4 parse-link-header@2.0.0 >/dev/null
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile httplink==0.2.0 >/dev/null
cat > headers.txt <<'HEADERS'
</2>; rel="next"; title*=UTF-8'en'Stunden%20am%20%C3%84quator, </9>; rel="last"
</2>; rel="next"; title*=UTF-8''Stunden%20am%20%C3%84quator, </9>; rel="last"
</2>; rel="next"; crossorigin, </9>; rel="last"
</2>; crossorigin; rel="next", </9>; rel="last"
HEADERS
cat > other.js <<'JS'
import { readFileSync } from 'node:fs'
import LinkHeader from 'http-link-header'
import other from 'parse-link-header'
for (const [i, header] of readFileSync('headers.txt', 'utf8').trim().split('\n').entries()) {
  const links = i < 2 ? LinkHeader.parse(header).refs : Object.values(other(header))
  console.log(links.map((l) => `${l.rel} ${l.uri ?? l.url}`).sort().join(', '))
}
JS
cat > run.py <<'PY'
from httplink import parse_link_header
for header in open('headers.txt', encoding='utf-8'):
    try:
        print(', '.join(sorted(f'{" ".join(link.rel)} {link.target}' for link in parse_link_header(header.strip()).links)))
    except ValueError as error:
        print('ValueError:', error)
PY
node other.js > expected.txt
v/bin/python run.py > seen.txt
echo 'httplink 0.2.0'
paste -d'|' headers.txt expected.txt seen.txt | sed 's/|/\n  expected /; s/|/\n  observed /'
stated=$'last /9, next /2\nValueError: Bad extended\nValueError: Bad link\nValueError: The rel parameter'
if [ "$(sed -E 's/^(ValueError: (Bad extended|Bad link|The rel parameter)).*/\1/' seen.txt)" = "$stated" ] && [ "$(sort -u expected.txt)" = 'last /9, next /2' ]
then echo 'still as stated'; else echo 'changed'; exit 1; fi
