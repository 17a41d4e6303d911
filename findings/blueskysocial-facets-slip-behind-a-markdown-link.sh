#!/usr/bin/env bash
# blueskysocial takes the Markdown out of the text of a post and counts bytes in the text as it was before: with an accented letter
# behind or at the end of a link's name, the facets that follow cover other letters, or half of one.
#
# What it is: blueskysocial is a Python client that posts to Bluesky; it turns [name](address), #tags and @mentions into facets.
# Versions: blueskysocial 2.1.0 (PyPI), with beautifulsoup4 4.13.4, pillow 11.2.1, requests 2.34.2. Its video library, not needed here, is left out.
# What the docs say: parse_facets: "Each facet includes byte-based index information (required by BlueSky API)"; lexicon
#   app.bsky.richtext.facet#byteSlice: byteStart and byteEnd count the bytes of the UTF-8 text of the record.
# Guess: in the text to be posted the facet of the tag covers "#wetter" and the one of the link its name, for all four lines.
# Seen: " #wette" instead of "#wetter"; "Caf" and half of the letter é instead of "Café" (no UTF-8). Right are the line without an accent
#   and the one whose accent is in front of the link. The numbers of characters are those of the new text, but they are turned into bytes
#   by the old one, in which other letters, brackets and the address stand at those places.
# Wrong for a user: any text that is not English: tags lead to a search but are marked one letter off, and readers that decode the bytes of a
#   facet raise an error or show a replacement character.
# Instead: post the address itself instead of [name](address), or build facets from text.encode().
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install beautifulsoup4==4.13.4 pillow==11.2.1 requests==2.34.2
v/bin/pip -q --disable-pip-version-check install --no-deps blueskysocial==2.1.0
touch cv2.py  # the video library: imported, never used here
cat > run.py <<'PY'
from importlib.metadata import version
from blueskysocial.post import Post
print('blueskysocial', version('blueskysocial'))
seen = []
for line in ['[Report](https://example.com/a) for #wetter today', '[Bericht](https://example.com/a) für #wetter heute',
             '[Café](https://example.com/a) #wetter', 'Köln: [Bericht](https://example.com/a) heute #wetter']:
    post = Post(line)
    facets = post.parse_facets()  # no mentions, so no requests
    text = post._post['text']; data = text.encode()
    pieces = [data[f['index']['byteStart']:f['index']['byteEnd']] for f in facets]
    name = line[line.index('[') + 1:line.index(']')]
    right = [name.encode(), b'#wetter']
    print(repr(line), '->', repr(text), [f['index'] for f in facets], pieces, 'right' if pieces == right else f'expected {right}')
    seen.append((pieces == right, pieces))
same = [ok for ok, _ in seen] == [True, False, False, True] and seen[1][1][1] == b' #wette' and seen[2][1][0] == b'Caf\xc3'
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
PYTHONPATH=. v/bin/python run.py
