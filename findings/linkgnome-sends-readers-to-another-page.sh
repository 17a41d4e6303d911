#!/usr/bin/env bash
# linkgnome lists the links of a Bluesky timeline under other addresses: ?q=rock%26roll becomes ?q=rock&roll, ?id=1&id=2 becomes ?id=1,2. Likes of a post are
# counted again for each repost of it, and a link card is no link.
#
# What it is: linkgnome (Python) ranks the links that the accounts you follow post, by posts, reposts and likes.
# Versions: linkgnome 0.0.3 (PyPI); second opinion: URL and URLSearchParams of Node on the same addresses.
# What the spec says: RFC 3986, 2.2: the reserved characters "&" and "+" and their escapes are not equivalent, a normaliser must leave them; URL
#   standard: one name can stand several times in a query. Lexicon app.bsky.feed.defs#postView: likeCount is the number of likes of the post.
#   app.bsky.embed.external: "a representation of some externally linked content", for many posts the one place of the address.
# Guess: four links with their own queries, 8 likes at each one, the card among them.
# Seen: three links, each with another query; the post that two friends repost has 24 likes for 8; the card is missing.
# Why: the query is decoded and put together again without escapes, values joined by commas; likes are added per entry of the timeline;
#   addresses are read from facets and text only.
# Wrong claim for a user: a click opens a search for other words or an error page; the order of the list follows reposts more than likes.
# Instead: use the uri of the facet or of the card as it is; count a post's likes once.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install httpx==0.28.1
v/bin/pip -q --disable-pip-version-check install --no-deps linkgnome==0.0.3 2>/dev/null
cat > run.py <<'PY'
import asyncio, json, subprocess
from datetime import datetime, timezone
from importlib.metadata import version
from linkgnome.fetchers.bluesky import BlueskyFetcher
from linkgnome.scorer import score_links
print('linkgnome', version('linkgnome'))
author = {'did': 'did:plc:' + 'a' * 24, 'handle': 'alice.example.com'}
cid, now = 'bafyreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck7e7aqa4s52zy', datetime.now(timezone.utc).isoformat(timespec='milliseconds').replace('+00:00', 'Z')
def item(key, uri, card=False, by=None):
    record = {'$type': 'app.bsky.feed.post', 'text': 'look', 'createdAt': now}
    if card: record['embed'] = {'$type': 'app.bsky.embed.external', 'external': {'uri': uri, 'title': 't', 'description': ''}}
    else: record['facets'] = [{'index': {'byteStart': 0, 'byteEnd': 4}, 'features': [{'$type': 'app.bsky.richtext.facet#link', 'uri': uri}]}]
    post = {'uri': f"at://{author['did']}/app.bsky.feed.post/3mbcdefghij2{key}", 'cid': cid, 'author': author, 'record': record, 'indexedAt': now, 'likeCount': 8}
    return {'post': post} | ({'reason': {'$type': 'app.bsky.feed.defs#reasonRepost', 'by': by, 'indexedAt': now}} if by else {})
links = ['https://example.com/search?q=rock%26roll', 'https://example.com/compare?id=1&id=2', 'https://example.com/?lang=C%2B%2B']
feed = [item('a', links[0]), item('b', links[1]), item('c', links[2]), item('d', 'https://example.com/card', card=True)]
feed += [item('a', links[0], by={'did': 'did:plc:' + x * 24, 'handle': x + '.example.com'}) for x in 'bc']
async def main():
    fetcher = BlueskyFetcher('alice.example.com', '')
    return await score_links([p for i in feed if (p := await fetcher._parse_feed_item(i))])
found = asyncio.run(main())
def query(url): return json.loads(subprocess.run(['node', '-p', f'JSON.stringify([...new URL({json.dumps(url)}).searchParams])'], check=True, capture_output=True, text=True).stdout)
for url in links: print('expected', url, query(url))
for link in found: print('observed', link.url, query(link.url), 'likes', link.like_count)
queries = [query(link.url) for link in found]
same = queries == [[['q', 'rock'], ['roll', '']], [['id', '1,2']], [['lang', 'C  ']]] and [link.like_count for link in found] == [24, 8, 8]
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
