#!/usr/bin/env bash
# semver-sort leaves out what makes a version a pre-release: 2.0.0-rc.1 sorts as equal to 2.0.0, so the "newest" of a list of tags can be
# a candidate where the release is there, and rc.10 stays in front of rc.2.
#
# What it is: sorts arrays of versions, also "even which is exist in a strings", ascending and descending (npm).
# Versions: semver-sort 1.0.0 with its dependencies semver 5.7.3 and semver-regex 3.1.4; semver 7.7.2 for comparison (npm).
# What the spec says: Semantic Versioning 2.0.0, item 11: a pre-release has lower precedence than the normal version, and identifiers of
#   digits only are compared as numbers. The README: "Sort array of semver string"; no limit to releases is named.
# Guess: asc() and desc() give what semver.sort and semver.rsort give.
# Seen: desc of [2.0.0-rc.1, 2.0.0] begins with 2.0.0-rc.1, that of [2.0.0, 2.0.0-rc.1] with 2.0.0: the order of the input stays. alpha,
#   beta and rc are not ordered among each other. Releases only are right.
# Why: each text is cut to what semver-regex finds in it; that pattern matches as little as it can, which is MAJOR.MINOR.PATCH.
# Wrong for a user: a page of versions, fed by a list of tags in order of the alphabet or of time, names a candidate as the current
#   release, and a changelog "since the last version" begins in the wrong place.
# Instead: versions.sort(require('semver').compare) after taking the tag's prefix off.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
echo '{"private":true,"overrides":{"semver-regex":"3.1.4"}}' > package.json
npm i --silent --no-audit --no-fund --ignore-scripts semver-sort@1.0.0 semver@7.7.2 semver-regex@3.1.4 >/dev/null
cat > run.cjs <<'JS'
const own = require('semver-sort'), semver = require('semver')
console.log(['semver-sort', 'semver-regex', 'semver'].map(n => n + ' ' + JSON.parse(require('fs').readFileSync(`node_modules/${n}/package.json`)).version).join(', '))
const show = (name, list) => {
  const expected = semver.rsort([...list]).join(' '), observed = own.desc([...list]).join(' ')
  console.log(name.padEnd(20), 'expected', expected, '\n', ''.padEnd(19), 'observed', observed)
  return expected === observed
}
const seen = [
  show('releases only', ['1.10.0', '1.9.0', '2.0.0', 'v1.2.0']),
  show('candidate first', ['2.0.0-rc.1', '2.0.0', '1.9.0']),
  show('release first', ['2.0.0', '2.0.0-rc.1', '1.9.0']),
  show('rc.2 and rc.10', ['v2.0.0-rc.2', 'v2.0.0-rc.10']),
  show('alpha, beta, rc', ['2.0.0-alpha.1', '2.0.0-beta.1', '2.0.0-rc.1'])
]
const newest = own.desc(['2.0.0-rc.1', '2.0.0', '1.9.0'])[0]
console.log('newest of 2.0.0-rc.1, 2.0.0, 1.9.0: expected 2.0.0, observed', newest, '- cut to', require('semver-regex')().exec('2.0.0-rc.1')[0])
const same = seen.join() === 'true,false,true,false,false' && newest === '2.0.0-rc.1'
console.log(same ? 'still as stated' : 'changed'); process.exit(same ? 0 : 1)
JS
node run.cjs
