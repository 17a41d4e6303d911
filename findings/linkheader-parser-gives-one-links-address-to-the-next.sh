#!/usr/bin/env bash
# linkheader-parser (PyPI) gives the description of an API as the next page: a link whose relation has a hyphen lends its address to
# the link after it. A parameter url in the query of an address takes the place of the address.
#
# What it is: reads the Link header of HTTP into a dictionary by relation, in Python.
# Versions: linkheader-parser 0.6; requests 2.34.2 for comparison (PyPI).
# What the spec says: RFC 8288, 3: a header is a list of links, each an address in < > and its parameters up to the comma; 3.3: a
#   relation type is a word of small letters, digits, points and hyphens, or a URI, and quotes are optional. service-desc is
#   registered (RFC 8631), as are latest-version and predecessor-version (RFC 5829).
# What the docs say: the README does not claim to cover all of the RFC, but 99 % of common cases; its example is a page of GitHub.
# Guess: the next page for next; service-desc either found or left out.
# Seen: next is the address of openapi.json, and nothing is raised; so it is after a link with rel=help without quotes, which is
#   left out itself. The address of an oEmbed document (...?url=page) is given as the page it describes. Without these all is right.
# Why: one pattern for a whole link, rel="([A-z\s]*)": if the relation of the first link does not fit, the pattern runs on over the
#   comma to the relation of the second one. And the parameters of the query are merged over the field url.
# Wrong for a user: a program that follows the pages reads the description of the API as if it were data, or stops after page one;
#   one that looks for the embeddable form gets the page itself.
# Instead: requests.utils.parse_header_links, or response.links of requests and httpx.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v; v/bin/pip -q --disable-pip-version-check install --no-compile linkheader-parser==0.6 requests==2.34.2 >/dev/null
cat > run.py <<'PY'
from importlib.metadata import version
from linkheader_parser import parse
from requests.utils import parse_header_links
print('linkheader-parser', version('linkheader-parser'), 'requests', version('requests'))
page = 'https://example.org/labels?cursor=2'
cases = {
    'plain': (f'<https://example.org/labels>; rel="first", <{page}>; rel="next"', 'next', page),
    'hyphen': (f'<https://example.org/openapi.json>; rel="service-desc", <{page}>; rel="next"', 'next', 'https://example.org/openapi.json'),
    'no quotes': (f'<https://example.org/help>; rel=help, <{page}>; rel="next"', 'next', 'https://example.org/help'),
    'oEmbed': ('<https://example.org/oembed?url=https%3A%2F%2Fexample.org%2Fpost%2F1>; rel="alternate"', 'alternate', 'https://example.org/post/1'),
}
same = True
for name, (header, rel, stated) in cases.items():
    got = parse(header)
    right = [l['url'] for l in parse_header_links(header) if l['rel'] == rel][0]
    print(f'{name:10} {rel}: {got[rel]["url"]:45} requests: {right}   relations found: {sorted(got)}')
    same &= got[rel]['url'] == stated and (right != stated or name == 'plain') and sorted(got) in ([rel], ['first', 'next'])
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
