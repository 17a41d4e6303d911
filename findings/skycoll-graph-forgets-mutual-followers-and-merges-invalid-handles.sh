#!/usr/bin/env bash
# In the follow graph of skycoll the follower who is followed back is not counted as a follower: 3 followers, 2 of them mutual, are written as 1. And all
# accounts whose handle is at the moment invalid are one node, which follows and is followed.
#
# What it is: skycoll (Python) writes the follows and followers of a Bluesky account to a file; "edgelist --gexf" makes a graph for Gephi of it.
# Versions: skycoll 0.3.8 (PyPI); the expected numbers are counted from the DIDs in its own file HANDLE.dat.
# What the spec says: atproto.com, Handle: "handle.invalid" is given in the place of every handle that does not verify, so many accounts have it at
#   once; DID: the identifier that lasts. Lexicon app.bsky.graph.getFollowers: a follower is one whether or not it is followed back.
# Guess: followers_count is 3 in the first graph; the second has 8 nodes and no mutual edge.
# Seen: 1; 4 nodes and a mutual edge to "handle.invalid", whose id is the DID of one of five strangers.
# Why: a mutual pair is one edge, counted for the one end only, and that count replaces the right one; nodes are keyed by handle.
# Wrong claim for a user: the better connected an account is, the fewer followers it has in the graph; after an outage of a host many strangers are
#   one mutual friend.
# Instead: count and draw from HANDLE.dat, whose third column is the DID.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install httpx==0.28.1
v/bin/pip -q --disable-pip-version-check install --no-deps skycoll==0.3.8 2>/dev/null
cat > run.py <<'PY'
import xml.etree.ElementTree as ET
from importlib.metadata import version
from skycoll.commands import edgelist
from skycoll.storage import read_dat, write_dat
print('skycoll', version('skycoll'))
edgelist._resolve_handle_to_did_cached = lambda handle: None  # no request leaves this machine
me = 'alice.example.com'
def person(letter, handle): return {'did': 'did:plc:' + letter * 24, 'handle': handle}
def graph(follows, followers):
    write_dat(me, person('a', me), follows, followers)
    f, b = ({p['did'] for p in read_dat(me)[k]} for k in ('follows', 'followers'))
    edgelist.run(me, render=False, write_gexf_file=True, write_gml_file=False)
    nodes, edges = (ET.parse(me + '.gexf').findall('.//{*}' + tag) for tag in ('node', 'edge'))
    own = {v.get('for'): v.get('value') for v in next(n for n in nodes if n.get('label') == me).iter('{http://gexf.net/1.3}attvalue')}
    seen = {'nodes': len(nodes), 'mutual': sum(e.get('mutual') == 'true' for e in edges), 'follows': int(own['follows_count']), 'followers': int(own['followers_count'])}
    print('expected', {'nodes': len(f | b) + 1, 'mutual': len(f & b), 'follows': len(f), 'followers': len(b)}, '\nobserved', seen)
    return seen
bob, carol, dave, erin = (person(n[0], n + '.example.com') for n in ('bob', 'carol', 'dave', 'erin'))
one = graph([bob, carol, dave], [bob, carol, erin])
two = graph([person(x, 'handle.invalid') for x in 'fgh'] + [bob], [person(x, 'handle.invalid') for x in 'ij'] + [carol])
same = one == {'nodes': 5, 'mutual': 2, 'follows': 3, 'followers': 1} and two == {'nodes': 4, 'mutual': 1, 'follows': 2, 'followers': 1}
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
