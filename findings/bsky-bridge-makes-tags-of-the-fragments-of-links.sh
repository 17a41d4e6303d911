#!/usr/bin/env bash
# bsky-bridge makes a tag of the fragment of an address, such as https://example.com/#about: the post gets the tag "about", and two facets
# that overlap; tags in a language written with combining marks are cut at the first mark.
#
# What it is: bsky-bridge is a Python client that posts to Bluesky; it turns addresses, #tags and @mentions of the text into facets.
# Versions: bsky-bridge 1.1.0 (PyPI), @atproto/api 0.21.0 (npm, RichText) as the second opinion.
# What the docs say: README: "Mentions, links, and hashtags are automatically detected"; docs of Bluesky, rich text: facets cannot overlap,
#   readers should sort them and discard those that do; its own clients make a tag only behind a blank or the start of the text.
# Guess: one link and the tag "rain" for the first line, one link for the second, the tag as it is written for the third.
# Seen: the tag "hourly" within the link in the first two lines (and listed behind a link that it is part of); for "#हिन्दी" the tag "ह".
# Wrong for a user: posts with links to parts of a page turn up under tags such as about, faq or news that nobody wrote, and others are not
#   found under the tag that stands in their text; readers that take facets as they come drop one of the two.
# Instead: remove facets of type tag that lie within one of type link before posting; give tags of such languages yourself.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"; npm init -y >/dev/null
npm i --silent --no-audit --no-fund --ignore-scripts @atproto/api@0.21.0 2>/dev/null
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install bsky-bridge==1.1.0
cat > second.mjs <<'JS'
import { RichText } from '@atproto/api';
console.log(JSON.stringify(JSON.parse(process.argv[2]).map((text) => {
  const rich = new RichText({ text }); rich.detectFacetsWithoutResolution();
  return (rich.facets ?? []).map((f) => f.features[0].tag ?? f.features[0].uri);
})));
JS
cat > run.py <<'PY'
import json, subprocess
from importlib.metadata import version
from bsky_bridge.post_utilities import create_facets
print('bsky-bridge', version('bsky-bridge'))
lines = ['see https://example.com/#hourly for #rain', 'https://example.com/stats/#hourly', 'news in #हिन्दी today', 'all of #Zürich today']
second = json.loads(subprocess.check_output(['node', 'second.mjs', json.dumps(lines)]))
seen, overlaps = [], []
for line, other in zip(lines, second):
    facets = create_facets(line, None)  # no mentions, so no requests
    spans = sorted((f['index']['byteStart'], f['index']['byteEnd']) for f in facets)
    overlaps.append(any(b[0] < a[1] for a, b in zip(spans, spans[1:])))
    seen.append([f['features'][0].get('tag') or f['features'][0]['uri'] for f in facets])
    print(repr(line), '->', seen[-1], 'overlap' if overlaps[-1] else '', '| second opinion', other)
same = [('hourly' in s) for s in seen] == [True, True, False, False] and overlaps == [True, True, False, False] and seen[2] == ['ह'] \
    and not any('hourly' in s for s in second) and second[2] == ['हिन्दी']
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
