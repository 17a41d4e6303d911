#!/usr/bin/env bash
# conditional-get ends with success and without a word where the server says 301, 404, 410 or 503, just as for "not modified": a
# series whose address has moved stays as it was on the last good day. A deleted file is not fetched again.
#
# What it is: a command of PyPI that fetches a file when its ETag has changed, made for scheduled jobs.
# Versions: conditional-get 0.3, httpx 0.28.1, click 8.1.8 (PyPI); urllib of the standard library for comparison.
# What the docs say: "Second run - will only fetch the file if it has changed". RFC 9110, 15.4.2: after 301 references ought to use the new
#   address, clients may follow it by themselves; 15.5.11: 410 says that it is gone for good. Only 304 says that nothing changed.
# Guess: the new file after 301, and a status other than 0 for 404, 410 and 503.
# Seen: status 0, no output, the old file, for all of them; -v prints the code and the status is still 0. With no old file nothing is
#   written either, with status 0. When the file was deleted, but not etags.json, 304 leaves it missing.
# Why: the code acts on 200 and on 304; for all others it comes to its end. Redirects are off in httpx unless one asks for them.
# Wrong claim for a user: the nightly job is green and the chart flat, or its last day old, from the day on which the publisher moved to
#   https or to another path.
# Instead: curl -fsSL --etag-compare tag --etag-save tag -o file; or look for "Response status code: 200" or 304 in the output of -v.
set -euo pipefail
T=$(mktemp -d); PY=; trap 'kill $PY 2>/dev/null || true; rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install --no-compile conditional-get==0.3 httpx==0.28.1 click==8.1.8
cat > serve.py <<'PY'
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
class Server(BaseHTTPRequestHandler):
    def log_message(self, *args): pass
    def do_GET(self):
        state = open('state').read().strip()
        moved = self.path.startswith('/new/')
        body, tag = (b'hour,stars\n00,5\n', '"old"') if state == '200' and not moved else (b'hour,stars\n00,5\n01,7\n', '"new"')
        code = 200 if moved else int(state)
        if code == 200 and self.headers.get('If-None-Match') == tag: code = 304
        self.send_response(code)
        if code == 301: self.send_header('Location', '/new' + self.path)
        if code in (200, 304): self.send_header('ETag', tag)
        if code == 200: self.send_header('Content-Length', str(len(body)))
        self.end_headers()
        if code == 200: self.wfile.write(body)
server = ThreadingHTTPServer(('127.0.0.1', 0), Server)
print(server.server_port, flush=True); server.serve_forever()
PY
echo 200 > state; python3 serve.py > port & PY=$!; until [ -s port ]; do sleep 0.1; done
export NO_PROXY=127.0.0.1; url=http://127.0.0.1:$(cat port)/stars.csv; v/bin/conditional-get --version
run() { rc=0; out=$(v/bin/conditional-get "$url" -o stars.csv "$@" 2>&1) || rc=$?; echo "status $rc, output '$(echo $out)', lines $(wc -l < stars.csv 2>/dev/null || echo none)"; }
check() { echo "$1: expected $2; observed $3"; [ "$3" = "$4" ] || bad=1; }; bad=0
check 'first run' "status 0, output '', lines 2" "$(run)" "status 0, output '', lines 2"
check 'not modified' "status 0, output '', lines 2" "$(run)" "status 0, output '', lines 2"
for code in 301 404 410 503; do
  echo $code > state
  [ $code = 301 ] && want='3 lines' || want='another status and a message'
  control=$(python3 -c "import urllib.request as u; print(len(u.urlopen('$url').readlines()), 'lines')" 2>&1 | tail -1 || true)
  check "$code (urllib: $control)" "$want" "$(run)" "status 0, output '', lines 2"
done
check 'the same with -v' 'another status' "$(run -v)" "status 0, output 'Existing ETag: \"old\" Response status code: 503', lines 2"
echo 200 > state; rm stars.csv; check 'file deleted' 'lines 2' "$(run 2>/dev/null)" "status 0, output '', lines none"
echo 404 > state; rm etags.json; check 'never there' 'another status' "$(run 2>/dev/null)" "status 0, output '', lines none"
if [ $bad = 0 ]; then echo 'still as stated'; else echo 'changed'; exit 1; fi
