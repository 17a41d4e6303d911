#!/usr/bin/env bash
# In base R, as.POSIXct("2026-01-01T05:00:00Z") is midnight of the reader's own time zone: the hour
# and the Z are dropped without a warning, so every hour of a table falls on one instant of its day.
#
# What it is: R's as.POSIXct on the text column that read.csv returns for an ISO 8601 time.
# Versions: R 4.2.2 (Debian 12). R 4.3 added formats with T to the list that is tried.
# What the docs say: ?as.POSIXct: the formats in tryFormats are tried "until one works"; the last
#   is "%Y-%m-%d". ?strptime: characters after the format are ignored.
# Guess: an error ("character string is not in a standard unambiguous format"), or 05:00 UTC.
# Seen: 24 hours become one instant, "2026-01-01 PST" in Los Angeles: 08:00 UTC. readr and
#   data.table::fread read the same column as 05:00 UTC. hour(t) is 0 for every row.
# Wrong number for a user: a plot against time stacks each day in one line; a join with another
#   table by the hour finds only midnights, and those shifted by the time zone.
# Instead: as.POSIXct(hour, format = "%Y-%m-%dT%H:%M:%SZ", tz = "UTC"), or readr or fread.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
command -v Rscript >/dev/null || { apt-get -qq update && apt-get -qq install -y --no-install-recommends r-base-core; } >/dev/null 2>&1
{ echo hour,stars; for h in $(seq -w 0 23); do echo "2026-01-01T$h:00:00Z,1"; done; } > h.csv
cat > run.R <<'R'
cat(R.version.string, "\n")
table <- read.csv("h.csv")
taken <- as.POSIXct(table$hour)
named <- as.POSIXct(table$hour, format = "%Y-%m-%dT%H:%M:%SZ", tz = "UTC")
cat("instants of 24 hours          expected 24, observed", length(unique(taken)), "\n")
cat("05:00Z, in hours after 00:00Z expected 5, observed", as.numeric(taken[6]) / 3600 - 490896, "\n")
cat("the same with a format        expected 24 and 5, observed", length(unique(named)), "and", as.numeric(named[6]) / 3600 - 490896, "\n")
same <- length(unique(taken)) == 1 && as.numeric(taken[6]) / 3600 - 490896 == 8 && length(unique(named)) == 24
cat(if (same) "still as stated\n" else "changed\n")
quit(status = if (same) 0 else 1)
R
TZ=America/Los_Angeles Rscript run.R
