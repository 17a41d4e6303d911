#!/usr/bin/env bash
# The Python package atoma gives None for content and summary that are XHTML, as if the entry had none. Its README counts
# XHTML among the forms of content that it reads.
#
# What it is: atoma reads Atom, RSS and JSON feeds into typed objects.
# Versions: atoma 0.0.17, feedparser 6.0.14 for comparison (PyPI).
# What the docs say: the README lists "Atom content other than text, html and xhtml" as not implemented; there is an enumeration
#   of text types with xhtml in it. RFC 4287, 3.1.1.3: XHTML stands inside one div, which is not part of the content.
# Guess: the markup inside the div, as a text construct of type xhtml.
# Seen: None for content and for summary, no error. The same entry as type="html" and type="text" is read; feedparser reads
#   all. If white space stands before the div there is a text construct, whose value is the empty string.
# Why: the text of an element is taken, which ends at its first child, the div; with no text the element counts as absent.
# Wrong for a user: entries of the feeds that write XHTML (many static site generators do) appear with a title and nothing
#   below; a search through them finds nothing, and they count as empty.
# Instead: feedparser; a feed for such readers writes type="html".
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v
v/bin/pip -q --disable-pip-version-check install --no-compile atoma==0.0.17 feedparser==6.0.14 >/dev/null
cat > run.py <<'PY'
from importlib.metadata import version
import atoma
import feedparser

print('atoma', version('atoma'), '/ feedparser', version('feedparser'))
DIV = '<div xmlns="http://www.w3.org/1999/xhtml">3 <b>hours</b></div>'
CASES = (
    ('text', '3 hours', '3 hours', '3 hours'),
    ('html', '3 &lt;b&gt;hours&lt;/b&gt;', '3 <b>hours</b>', '3 <b>hours</b>'),
    ('xhtml', DIV, '3 <b>hours</b>', None),
    ('xhtml', '\n' + DIV, '3 <b>hours</b>', ''),
)
same = True
for name in ('content', 'summary'):
    for kind, inner, expected, stated in CASES:
        feed = ('<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Hours</title><author><name>A</name></author>'
                '<updated>2026-11-29T12:00:00Z</updated><entry><id>urn:example:1</id><title>One</title>'
                '<updated>2026-11-29T12:00:00Z</updated><link href="https://hours.example/1"/>'
                f'<{name} type="{kind}">{inner}</{name}></entry></feed>').encode()
        found = getattr(atoma.parse_atom_bytes(feed).entries[0], name)
        observed = found and found.value
        other = feedparser.parse(feed).entries[0]
        control = other.content[0].value if name == 'content' else other.summary
        print(f'{name}, {kind}, {inner!r}: expected {expected!r}, observed {observed!r}; feedparser {control!r}')
        same = same and observed == stated and control == expected
print('still as stated' if same else 'changed')
raise SystemExit(0 if same else 1)
PY
v/bin/python -W ignore run.py
