#!/usr/bin/env bash
# oembedpy asks another address than the one that a page names for its oEmbed: of the query it keeps url, format and the two sizes, so
# that a WordPress without pretty links answers with its front page and a German card comes in English.
#
# What it is: oembedpy finds and reads oEmbed for Python; discovery and consumer are its two steps for pages.
# Versions: oembedpy 0.9.0 (PyPI).
# What the spec says: oEmbed 1.0, 4: the href of the link "should be the full oEmbed endpoint plus URL and any needed format parameter";
#   2.1: an endpoint is a URL, which may have a query; the arguments of 2.2 are added to it. RFC 3986, 3.4: the query is part of
#   what identifies the resource.
# Guess: a GET of just the href; "Stunden" for lang=de, and the card of a blog with ?rest_route=/oembed/1.0/embed.
# Seen: lang=de and rest_route are gone. The first gives the card in English, without an error; the second "oEmbed content must be
#   only JSON or XML", as it read a page. With url, format and maxwidth alone it is right.
# Why: discovery takes the href apart, keeps scheme, host and path, and builds a query anew from the four names it knows.
# Wrong for a user: a card in another language or theme, or that of the public view where the link carried a range; of blogs with plain
#   links none can be embedded, and the message blames the blog.
# Instead: fetch the href of <link type="application/json+oembed"> as it is.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile oembedpy==0.9.0 httpx==0.28.1
cat > run.py <<'PY'
import json, re, threading
from html import escape, unescape
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from importlib.metadata import version
from urllib.parse import parse_qs, quote, urlsplit
import httpx
from oembedpy import consumer, discovery
print('oembedpy', version('oembedpy'))
class Site(BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self):
        parts = urlsplit(self.path); query = {k: v[0] for k, v in parse_qs(parts.query).items()}
        base = f'http://127.0.0.1:{server.server_port}'
        page = lambda href: ('text/html', f'<html><head><link rel="alternate" type="application/json+oembed" href="{escape(href)}"></head></html>')
        url = quote(base + parts.path, safe='')
        card = lambda title: ('application/json', json.dumps({'type': 'link', 'version': '1.0', 'title': title}))
        kind, body = {
            '/plain': lambda: page(f'{base}/oembed?url={url}&format=json&maxwidth=400'),
            '/german': lambda: page(f'{base}/oembed?url={url}&format=json&lang=de'),
            '/blog': lambda: page(f'{base}/index.php?rest_route=/oembed/1.0/embed&url={url}'),
            '/oembed': lambda: card('Stunden' if query.get('lang') == 'de' else 'Hours'),
            '/index.php': lambda: card('Post') if query.get('rest_route') == '/oembed/1.0/embed' else ('text/html', '<h1>Front page</h1>'),
        }[parts.path]()
        if parts.path in ('/oembed', '/index.php'): asked.append(self.path.replace(url, 'URL'))
        self.send_response(200); self.send_header('Content-Type', kind); self.end_headers(); self.wfile.write(body.encode())
asked = []
server = ThreadingHTTPServer(('127.0.0.1', 0), Site); threading.Thread(target=server.serve_forever, daemon=True).start()
seen = {}
for path in ('/plain', '/german', '/blog'):
    url = f'http://127.0.0.1:{server.server_port}{path}'
    expected = httpx.get(unescape(re.search(r'href="([^"]+)"', httpx.get(url).text)[1])).json()['title']     # the href as it is
    try: observed = consumer.fetch_content(*discovery.find_from_content(url)).title
    except ValueError as error: observed = f'error: {error}'
    seen[path] = observed
    print(f'{path}: expected {expected}; observed {observed}\n  named {asked[-2]}\n  asked {asked[-1]}')
ok = seen == {'/plain': 'Hours', '/german': 'Hours', '/blog': 'error: oEmbed content must be only JSON or XML.'}
print('still as stated' if ok else 'changed'); raise SystemExit(0 if ok else 1)
PY
v/bin/python run.py
