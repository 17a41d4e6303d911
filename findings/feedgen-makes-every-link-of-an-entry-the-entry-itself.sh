#!/usr/bin/env bash
# feedgen writes the links of an Atom entry without rel, type, language, title and length: the CSV of an hour, a related hour and the
# German version all become the entry's page, and readers open the last of them.
#
# What it is: feedgen, the Python library most used to write Atom and RSS.
# Versions: feedgen 1.0.0, feedparser 6.0.11 as the reader (PyPI).
# What the docs say: link() takes "href, rel, type, hreflang, title, length". RFC 4287, 4.2.7.2: a link without rel is an alternate; 4.1.2: an
#   entry MUST NOT have two alternates of the same type and language.
# Guess: the attributes that were given, as in the links of the feed itself; the reader opens the page and finds one enclosure.
# Seen: four links with href alone. feedparser takes the last, another entry, for the address of the entry and finds no enclosure.
#   The same FeedGenerator writes the feed's own link with rel, and in RSS the page and the enclosure right.
# Why: the loop over the links names its variable like the element that it makes, so that it looks for the attributes in the new, empty
#   element. Issues 135 and 143 of the project (2024) report it; 1.0.0 is the newest release.
# Wrong for a user: subscribers of the Atom feed get a download or another post in the place of the one they chose, podcast players find
#   nothing; whoever tests with the RSS feed, or with one link, sees nothing.
# Instead: RSS, or set the attributes in the tree after atom_str(); feedgenerator of PyPI.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile feedgen==1.0.0 feedparser==6.0.11
cat > run.py <<'PY'
from datetime import datetime, timezone
from importlib.metadata import version
import feedparser
from feedgen.feed import FeedGenerator
print('feedgen', version('feedgen'), '| feedparser', version('feedparser'))
LINKS = [{'href': 'https://example.com/1', 'rel': 'alternate', 'type': 'text/html', 'hreflang': 'en'},
         {'href': 'https://example.com/de/1', 'rel': 'alternate', 'type': 'text/html', 'hreflang': 'de'},
         {'href': 'https://example.com/1.csv', 'rel': 'enclosure', 'type': 'text/csv', 'length': '42'},
         {'href': 'https://example.com/0', 'rel': 'related', 'type': 'application/atom+xml'}]
feed = FeedGenerator()
feed.id('urn:example:feed'); feed.title('Hours'); feed.description('Counts')
feed.link(href='https://example.com/', rel='alternate'); feed.link(href='https://example.com/feed', rel='self')
entry = feed.add_entry()
entry.id('urn:example:1'); entry.title('Hour 1'); entry.updated(datetime(2026, 1, 1, tzinfo=timezone.utc)); entry.content('5')
for link in LINKS: entry.link(**link)

def by_hand():
    links = ''.join('<link ' + ' '.join(f'{name}="{value}"' for name, value in link.items()) + '/>' for link in LINKS)
    return ('<feed xmlns="http://www.w3.org/2005/Atom"><id>urn:example:feed</id><title>Hours</title><updated>2026-01-01T00:00:00Z</updated><entry>'
            f'<id>urn:example:1</id><title>Hour 1</title><updated>2026-01-01T00:00:00Z</updated>{links}<content>5</content></entry></feed>')

def read(text):
    item = feedparser.parse(text).entries[0]
    return {'rels': [link.get('rel') for link in item.links], 'languages': [link.get('hreflang') for link in item.links], 'enclosures': [(e.href, e.get('length')) for e in item.enclosures], 'link': item.link}

expected, observed, rss = read(by_hand()), read(feed.atom_str()), read(feed.rss_str())
for name in expected: print(f'{name}: expected {expected[name]}; observed {observed[name]}')
print('RSS of the same feed: enclosures', rss['enclosures'], 'link', rss['link'])
ok = observed == {'rels': ['alternate'] * 4, 'languages': [None] * 4, 'enclosures': [], 'link': LINKS[3]['href']}
ok &= expected['rels'] == ['alternate', 'alternate', 'enclosure', 'related'] and expected['enclosures'] == [(LINKS[2]['href'], '42')] == rss['enclosures']
ok &= b'rel="self"' in feed.atom_str()
print('still as stated' if ok else 'changed'); raise SystemExit(0 if ok else 1)
PY
v/bin/python run.py
