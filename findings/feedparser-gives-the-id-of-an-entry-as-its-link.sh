#!/usr/bin/env bash
# feedparser gives the id of an Atom entry as its link, such as urn:uuid:..., if the entry has no page, and also if it has one whose
# relation is written in full. An enclosure whose relation is written in full is not among the enclosures.
#
# What it is: feedparser reads Atom and RSS in Python; "you can always use entries[i].link", says its reference.
# Versions: feedparser 6.0.14, fastfeedparser 0.6.5 for comparison (PyPI).
# What the spec says: RFC 4287, 4.2.7.2: a relation by name, such as "alternate", must be taken for equivalent to the IRI
#   http://www.iana.org/assignments/relation/alternate. 4.1.2: an entry with content needs no alternate link. 4.2.6: an id is
#   an IRI that no one may expect to be dereferenced. feedparser's reference: link comes from the link with rel "alternate" or without
#   rel; only of RSS it says that a guid may take its place.
# Guess: the page for both ways of writing, no link where there is no page, and one enclosure for both ways.
# Seen: the page for the short name only. For the full one, for no link and for an edit link alone the link is the id, and
#   guidislink is True. The enclosure in full is missing from enclosures. links has all of them.
# Why: the attribute isPermaLink of RSS counts as true where it is missing, and Atom's id goes the same way; rel is compared with
#   the short names alone.
# Wrong for a user: a list of news in which entries lead to "urn:uuid:..." or to an http id that never was a page; a
#   check for a missing link finds none; a reader of data feeds does not see the file.
# Instead: look into links for both ways of writing; take link for missing where it equals id.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile feedparser==6.0.14 fastfeedparser==0.6.5 >/dev/null
cat > run.py <<'PY'
import feedparser, fastfeedparser
from importlib.metadata import version

print('feedparser', version('feedparser'), '| fastfeedparser', version('fastfeedparser'))
FULL, PAGE, FILE = 'http://www.iana.org/assignments/relation/', 'https://hours.example/page', 'https://hours.example/hours.csv'
FEED = '''<?xml version="1.0" encoding="utf-8"?>
<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Hours</title><updated>2026-11-29T12:00:00Z</updated>
<author><name>A</name></author><entry><id>urn:example:1</id><title>One</title><updated>2026-11-29T12:00:00Z</updated>
%s<content>x</content></entry></feed>'''
page = f'<link rel="%s" href="{PAGE}"/>'
file = f'<link rel="%s" type="text/csv" length="9" href="{FILE}"/>'
CASES = [  # name, links, expected link and number of enclosures, stated ones
    ('page', page % 'alternate', (PAGE, 0), (PAGE, 0)),
    ('page, in full', page % (FULL + 'alternate'), (PAGE, 0), ('urn:example:1', 0)),
    ('no link', '', (None, 0), ('urn:example:1', 0)),
    ('edit link alone', '<link rel="edit" href="https://hours.example/edit"/>', (None, 0), ('urn:example:1', 0)),
    ('page and file', page % 'alternate' + file % 'enclosure', (PAGE, 1), (PAGE, 1)),
    ('page and file, in full', page % (FULL + 'alternate') + file % (FULL + 'enclosure'), (PAGE, 1), ('urn:example:1', 0)),
]
same = True
for name, links, expected, stated in CASES:
    feed = feedparser.parse(FEED % links)
    entry = feed.entries[0]
    observed = (entry.get('link'), len(entry.get('enclosures', [])))
    print(f'{name}: expected {expected}; observed {observed}; guidislink {entry.guidislink}; well formed {not feed.bozo}')
    same = same and observed == stated and not feed.bozo
for name, links, expected, stated in CASES[:3]:  # another reader gives what is expected
    other = fastfeedparser.parse(FEED % links).entries[0].get('link')
    print(f'fastfeedparser, {name}: {other}')
    same = same and other == expected[0]
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
