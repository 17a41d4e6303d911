#!/usr/bin/env bash
# In Miller the largest counts are the empty ones: "mlr top" puts unobserved hours first and
# max() lets an empty cell win, while "stats1 -a max" on the same column gives the number.
#
# What it is: Miller (mlr), a CSV command-line tool, on an hourly table with empty cells.
# Versions: Debian's miller; written against 6.6.0 (Debian 12). The version found is printed.
# What the docs say: mlr help function max: "null loses"; Miller's page on null data: empty
#   values are left out of statistics such as stats1; mlr help verb top: prints the records
#   with the largest values at the field.
# Guess: "top -n 2 -f stars -a" prints the hours with 30 and 10; a running max ends at 30.
# Seen: top prints the two hours nobody observed (and, without -a, two lines with an empty
#   top value); @m = max(@m, $stars) ends empty; min() and stats1 -a max do skip empties.
#   The filter $stars < 5 also keeps the empty hours (compared as text), as its help tells.
# Wrong number for a user: "the two busiest hours" are the two gaps of the record.
# Instead: put filter 'is_not_empty($stars)' first.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
command -v mlr >/dev/null || { apt-get -qq update && apt-get -qq install -y --no-install-recommends miller; } >/dev/null 2>&1
echo "miller $(dpkg-query -W -f '${Version}' miller 2>/dev/null || true) / $(mlr --version)"
cat > h.csv <<'C'
hour,stars
2026-01-01T00:00:00Z,10
2026-01-01T01:00:00Z,
2026-01-01T02:00:00Z,0
2026-01-01T03:00:00Z,30
2026-01-01T04:00:00Z,
C
top=$(mlr --icsv --onidx --ofs ' ' top -n 2 -f stars -a then cut -f hour h.csv | cut -c12-13 | sort | paste -sd' ')
max=$(mlr --icsv --ojson put -q '@m = max(@m, $stars); end { emit @m }' h.csv | tr -d ' \n')
min=$(mlr --icsv --ojson put -q '@m = min(@m, $stars); end { emit @m }' h.csv | tr -d ' \n')
st=$(mlr --icsv --onidx stats1 -a max -f stars h.csv)
ok=$(mlr --icsv --onidx --ofs ' ' filter 'is_not_empty($stars)' then top -n 2 -f stars -a then cut -f hour h.csv | cut -c12-13 | sort | paste -sd' ')
echo "top two hours      expected 00 03      observed $top"
echo "max(@m, \$stars)    expected [{\"m\":30}] observed $max"
echo "min(@m, \$stars)    expected [{\"m\":0}]  observed $min"
echo "stats1 max         expected 30         observed $st"
echo "top after filter   expected 00 03      observed $ok"
if [ "$top" = '01 04' ] && [ "$max" = '[{"m":""}]' ] && [ "$min" = '[{"m":0}]' ] && [ "$st" = 30 ] && [ "$ok" = '00 03' ]; then echo 'still as stated'; else echo changed; exit 1; fi
