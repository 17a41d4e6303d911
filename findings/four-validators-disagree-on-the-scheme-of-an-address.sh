#!/usr/bin/env bash
# A post with a link to s3://, git+https:// or view-source: is valid or not depending on the library: indigo refuses schemes with a digit, a plus or a
# capital letter, @atproto/lexicon and @atcute/lexicons those with a plus, a hyphen or a dot; the Python SDK takes all.
#
# What it is: the format "uri" of the Lexicon language, in the Go, TypeScript and Python libraries of the AT Protocol; links of posts have it.
# Versions: indigo v0.0.0-20260605210604-af2fec94f34c (Go), @atproto/syntax 0.7.7, @atcute/lexicons 2.1.0 (npm), atproto 0.0.73 (PyPI).
# What the spec says: Lexicon, uri: any scheme, "following the generic RFC-3986". RFC 3986, 3.1: a scheme is a letter, then letters, digits, plus,
#   hyphen and dot; capital letters are equivalent. Registered: coap+tcp, view-source, h323, z39.50r; in daily use: s3, git+https.
# Guess: all six are valid in all four.
# Seen: indigo 1 of 6, the two JavaScript ones 3 of 6 (not the same ones), Python 6 of 6.
# Wrong claim for a user: a post that its host accepted is invalid for an index in another language; the share of invalid records
#   depends on the checker, not on the authors.
# Instead: check the scheme by the grammar of RFC 3986 before, and take these refusals of a whole record for a matter of that one link.
set -euo pipefail
T=$(mktemp -d); trap 'chmod -R u+w "$T" 2>/dev/null || true; rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/syntax@0.7.7 @atcute/lexicons@2.1.0 2>/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install atproto==0.0.73
printf '%s\n' s3://bucket/hours.csv git+https://example.com/a.git coap+tcp://example.com/a view-source:https://example.com/ h323:alice@example.com HTTPS://example.com/ > uris.txt
cat > run.mjs <<'JS'
import { readFileSync } from 'node:fs';
import { isValidUri } from '@atproto/syntax';
import { isGenericUri } from '@atcute/lexicons/syntax';
const uris = readFileSync('uris.txt', 'utf8').trim().split('\n'), show = (f) => uris.map((u) => (f(u) ? 'yes' : 'no')).join(' ');
console.log('URL_of_Node', show((u) => URL.canParse(u))); console.log('atproto_syntax', show(isValidUri)); console.log('atcute_lexicons', show(isGenericUri));
JS
cat > run.py <<'PY'
from pydantic import TypeAdapter, ValidationError
from atproto_client.models import string_formats
def ok(uri):
    try: TypeAdapter(string_formats.Uri).validate_python(uri, context={'strict_string_format': True}); return 'yes'
    except ValidationError: return 'no'
print('atproto_python', *map(ok, open('uris.txt').read().split()))
PY
printf 'module probe\n\ngo 1.26\n\nrequire github.com/bluesky-social/indigo v0.0.0-20260605210604-af2fec94f34c\n' > go.mod
cat > main.go <<'GO'
package main
import ("fmt"; "net/url"; "os"; "strings"; "github.com/bluesky-social/indigo/atproto/syntax")
func main() {
	raw, _ := os.ReadFile("uris.txt")
	words := map[bool]string{true: "yes", false: "no"}
	indigo, std := []string{"indigo"}, []string{"net_url_of_Go"}
	for _, u := range strings.Fields(string(raw)) {
		_, err := syntax.ParseURI(u)
		_, err2 := url.Parse(u)
		indigo, std = append(indigo, words[err == nil]), append(std, words[err2 == nil])
	}
	fmt.Println(strings.Join(std, " ") + "\n" + strings.Join(indigo, " "))
}
GO
echo library $(cat uris.txt); (node run.mjs; v/bin/python run.py; GOFLAGS=-mod=mod nice -n 19 flock /tmp/one.lock go run .) | tee seen.txt
diff - seen.txt <<'E' && echo 'still as stated' || { echo changed; exit 1; }
URL_of_Node yes yes yes yes yes yes
atproto_syntax yes no no no yes yes
atcute_lexicons yes no no no yes yes
atproto_python yes yes yes yes yes yes
net_url_of_Go yes yes yes yes yes yes
indigo no no no yes no no
E
