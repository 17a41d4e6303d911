#!/usr/bin/env bash
# keepachangelog makes two changes of one that is wrapped over two lines, writes them back as two items, and takes "[YANKED]" for a part
# of the date.
#
# What it is: reads and writes CHANGELOG.md in the form of Keep a Changelog, also as an endpoint of a web service (Python).
# Versions: keepachangelog 2.0.0 (PyPI); keep-a-changelog 3.1.0 (npm) for comparison.
# What the docs say: the README: "Convert changelog markdown file following keep a changelog format into python dict"; in its example a
#   nested item counts as an entry, too. CommonMark: an indented line after an item goes on with its paragraph. Keep a Changelog 1.1.0:
#   a pulled release is written "## [0.0.5] - 2014-12-13 [YANKED]".
# Guess: one entry for a wrapped change, and release_date 2026-10-01 with "yanked" beside it or left out.
# Seen: "Counts stars of a post" / "that was deleted" are two entries, and from_dict() makes two items of them, so that the
#   file has two for ever. release_date is "2026-10-01 [yanked]". keep-a-changelog has one change and a flag.
# Why: it reads line by line, and everything under a heading that is no heading is an entry; all that follows the dash of a
#   heading is the date.
# Wrong for a user: "2 fixes since 1.0" where there was one, and half a sentence as a change of its own; a program that reads the date
#   fails at the one release that one must not use.
# Instead: one line for every change, or keep-a-changelog.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install keepachangelog==2.0.0
echo '{"private":true}' > package.json && npm i --silent --no-audit --no-fund --ignore-scripts keep-a-changelog@3.1.0 >/dev/null
cat > CHANGELOG.md <<'MD'
# Changelog

## [1.1.0] - 2026-11-01
### Fixed
- Counts stars of a post
  that was deleted in the same hour.

## [1.0.0] - 2026-10-01 [YANKED]
### Added
- The hours.

[1.1.0]: https://example.org/compare/1.0.0...1.1.0
MD
node --input-type=module -e "import { parser } from 'keep-a-changelog'; import fs from 'fs'
for (const r of parser(fs.readFileSync('CHANGELOG.md', 'utf8')).releases) console.log('keep-a-changelog', r.version, r.date.toISOString().slice(0, 10), 'yanked:', !!r.yanked, [...r.changes.values()].flat().map(c => c.title + ' ' + (c.description ?? '')))" | tee other.txt
cat > run.py <<'PY'
import keepachangelog
from importlib.metadata import version
print('keepachangelog', version('keepachangelog'))
changes = keepachangelog.to_dict('CHANGELOG.md')
for name, entry in changes.items(): print(name, repr(entry['metadata']['release_date']), {k: v for k, v in entry.items() if k != 'metadata'})
written = keepachangelog.from_dict(changes)
items = [line for line in written.splitlines() if line.startswith('- ')]; print('written again:', items, [l for l in written.splitlines() if l.startswith('## ')])
other = open('other.txt').read().splitlines()
same = (changes['1.1.0']['fixed'] == ['Counts stars of a post', 'that was deleted in the same hour.'] and len(items) == 3 and changes['1.0.0']['metadata']['release_date'] == '2026-10-01 [yanked]'
        and len(other) == 2 and '1.1.0 2026-11-01' in other[0] and 'yanked: true' in other[1])
print('still as stated' if same else 'changed'); raise SystemExit(0 if same else 1)
PY
v/bin/python run.py
