#!/usr/bin/env bash
# fastapi-etag lets "If-None-Match: *", create only if there is nothing yet, overwrite what is there, refuses "If-Match: *" and lists of
# tags though they match, answers a guarded PUT with 304, and with weak=False sends a tag that is none.
#
# What it is: a dependency for FastAPI (PyPI) that compares ETags before the handler runs; it knows If-None-Match and If-Match.
# Versions: fastapi-etag 0.4.0, fastapi 0.115.6, httpx 0.28.1 as the client, werkzeug 3.1.3 for comparison (PyPI).
# What the spec says: RFC 9110, 13.1.2: with "*" the condition is false if a representation exists, a list is matched by any member, and
#   the answer is 412 but for GET and HEAD; 13.1.1: "*" is true if one exists, strong comparison; 8.8.3: a tag is quoted.
# Guess: as in the RFC: 412 and nothing written, 200, 200, 412, and "rev1" in quotes.
# Seen: 200 and the resource is overwritten; 412; 412; 304; rev1 without quotes. A PUT with If-Match and the one current tag is let
#   through and one with an old tag refused; a GET with the current tag is 304, with a list that has it 200.
# Why: the field's whole text is compared with the tag by !=; the kind of request is not looked at.
# Wrong for a user: two programs that both create the record of an hour only if it is missing: the second replaces the first, and both
#   are told that it worked. A guarded change that was not made is reported as "not modified", which clients take for fine.
# Instead: parse the fields with werkzeug.http.parse_etags and decide in the handler.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile fastapi-etag==0.4.0 fastapi==0.115.6 httpx==0.28.1 werkzeug==3.1.3
cat > run.py <<'PY'
import asyncio
from importlib.metadata import version
import httpx
from fastapi import Depends, FastAPI, Request
from fastapi_etag import Etag, add_exception_handler
from werkzeug.http import parse_etags
print(*(f'{name} {version(name)}' for name in ('fastapi-etag', 'fastapi', 'httpx', 'werkzeug')), sep=', ')
app = FastAPI(); add_exception_handler(app)
hour = {'stars': 5}
async def tag(request: Request): return 'rev1'
weak, strong = [Depends(Etag(tag))], [Depends(Etag(tag, weak=False))]
@app.get('/hour', dependencies=weak)
async def get(): return hour
@app.put('/hour', dependencies=weak)
async def put(request: Request):
    hour.update(await request.json()); return hour
@app.get('/strong', dependencies=strong)
async def get_strong(): return hour

def control(method, field, value):                       # the condition by werkzeug, the status by the RFC
    tags = parse_etags(value)
    if field == 'If-Match': return 200 if tags.star_tag or tags.contains('rev1') else 412
    return 200 if not (tags.star_tag or tags.contains_weak('rev1')) else 304 if method == 'GET' else 412

async def main():
    rows, ok = [('PUT', 'If-None-Match', '*', 200), ('PUT', 'If-Match', '*', 412), ('GET', 'If-None-Match', '"rev0", W/"rev1"', 200), ('PUT', 'If-None-Match', 'W/"rev1"', 304),
                ('PUT', 'If-Match', 'W/"rev0"', 412), ('GET', 'If-None-Match', 'W/"rev1"', 304)], True
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app=app), base_url='http://localhost') as client:
        for method, field, value, stated in rows:
            hour['stars'] = 5
            seen = (await client.request(method, '/hour', headers={field: value}, json={'stars': 9} if method == 'PUT' else None)).status_code
            print(f'{method} {field}: {value}: expected {control(method, field, value)}; observed {seen}, stars now {hour["stars"]}')
            ok &= seen == stated and hour['stars'] == (9 if (method, seen) == ('PUT', 200) else 5)
        header = (await client.get('/strong')).headers['etag']
        print(f'weak=False: expected "rev1" in quotes; observed {header}')
    ok &= header == 'rev1' and control(*rows[0][:3]) == 412
    print('still as stated' if ok else 'changed'); raise SystemExit(0 if ok else 1)
asyncio.run(main())
PY
v/bin/python run.py
