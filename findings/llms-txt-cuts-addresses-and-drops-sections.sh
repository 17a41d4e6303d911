#!/usr/bin/env bash
# The reference reader of llms.txt cuts an address at its first closing parenthesis, keeps only the
# last of two sections of one name, and takes a paragraph into the title.
#
# What it is: llms-txt, the Python package of the format's authors: parse_llms_file() and the
#   command llms_txt2ctx, which fetches what is listed.
# Versions: llms-txt 0.0.7, fastcore 2.2.41; llms-txt-kit 0.1.0 (all PyPI) to compare with.
# What the spec says: llmstxt.org: a Markdown file: an H1, a blockquote, paragraphs, then H2 sections
#   with lists of links; CommonMark 6.3: a link's address may hold balanced parentheses.
# Guess: the addresses, notes and sections as any Markdown reader shows them.
# Seen: [Count](https://en.example/Count_(data)): the note ... gives "https://en.example/Count_(data"
#   and no note. Two "## Data" sections: the first's links are gone. A paragraph on the line right
#   under "# Hours" becomes part of the title. None of it raises.
# Wrong claim for a user: llms_txt2ctx fetches an address that does not exist and puts the error page
#   into the context; half of the listed files are left out, unsaid.
# Instead: llms-txt-kit, or a Markdown parser; publishers: write %28 and %29, and no name twice.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install llms-txt==0.0.7 fastcore==2.2.41
python3 -m venv k && k/bin/pip -q --disable-pip-version-check install llms-txt-kit==0.1.0
cat > llms.txt <<'M'
# Hours
Counts of stars by the hour.

More on the method.

## Data

- [Count](https://en.example/Count_(data)): what a count is
- [Table](https://en.example/hours.csv): all hours

## Data

- [Days](https://en.example/days.csv): all days
M
cat > run.py <<'PY'
from importlib.metadata import version
from llms_txt.core import parse_llms_file
print('llms-txt', version('llms-txt'), 'fastcore', version('fastcore'))
d = parse_llms_file(open('llms.txt').read())
links = [(l['url'], l['desc']) for s in d['sections'].values() for l in s]
print('title    expected \'Hours\', observed', repr(d['title']))
print('links    expected 3, observed', links)
one = parse_llms_file('# Hours\n\n> By the hour\n\nMethod.\n\n## Data\n\n- [Count](https://en.example/Count_(data)): what a count is\n')['sections']['Data'][0]
print('address  expected https://en.example/Count_(data), observed', one['url'], 'note', one['desc'])
same = d['title'] != 'Hours' and links == [('https://en.example/days.csv', 'all days')] and one['url'] == 'https://en.example/Count_(data' and one['desc'] is None
raise SystemExit(0 if same else 1)
PY
cat > kit.py <<'PY'
from llmstxt import parse, __version__
d = parse(open('llms.txt').read()); print('llms-txt-kit', __version__, ':', d.title, [l.url for l in d.links])
raise SystemExit(0 if d.title == 'Hours' and [l.url for l in d.links][0] == 'https://en.example/Count_(data)' and len(d.links) == 3 else 1)
PY
if v/bin/python run.py && k/bin/python kit.py; then echo 'still as stated'; else echo changed; exit 1; fi
