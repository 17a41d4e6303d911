#!/usr/bin/env bash
# How busy is the network? network-activity.sh BASE-ADDRESS. Exit code 3 when the service refuses the fact.
set -euo pipefail
. "$(dirname "$0")/facts.sh"
body=$(fact "${1:-http://127.0.0.1:8400}" /v1/weather/metrics)
jq -r '
  # Null means not known. It is not a zero.
  def known: if . == null then "not known" else tostring end;
  .facts.window as $window | .facts.total_events as $all |
  (["origin", .provenance.origin // "not stated"],
   ["window", ($window.start | known), ($window.end | known)],
   ["watched", "\($window.observed_seconds) of \($window.span_seconds) seconds"],
   ["all events", ($all.total | known), "\($all.mean_rate_per_s | known) a second"],
   # Missing or null means that it was not observed.
   (.facts.collections | to_entries[] |
     if .value == null then [.key, "not observed"]
     else [.key, (.value.total | tostring), "\(.value.mean_rate_per_s | known) a second"] end),
   # Caveats are part of the fact.
   (.caveats[] | ["caveat", .])) | join("\t")' <<<"$body"
