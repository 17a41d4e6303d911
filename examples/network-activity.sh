#!/usr/bin/env bash
# How busy is the network? network-activity.sh BASE-ADDRESS. Exit code 3 when the service refuses the fact.
set -euo pipefail
. "$(dirname "$0")/facts.sh"
body=$(fact "${1:-http://127.0.0.1:8400}" /v1/weather/metrics atproto.facts.weather.metrics/v1)
jq -r "$elapsed"'
  # Null means not known. It is not a zero.
  def known: if . == null then "not known" else tostring end;
  # Weather is never refused for its age: unless this is `current` or `partial`, the numbers do not describe the present.
  def currency: .age_seconds as $age | elapsed as $elapsed | .freshness |
    if .state == "stale" then "old" elif .state == "unavailable" then .state
    elif $age == null or .age_seconds == null or .max_age_seconds == null then "not_said"
    # A fact that is dated more than 300 s ahead comes from a wrong clock. It would otherwise be current until that time.
    elif ([$age, .age_seconds] | min) < -300 then "not_said"
    elif $age + .age_seconds + $elapsed > .max_age_seconds then "old" else .state end;
  .facts.window as $window | .facts.total_events as $all |
  (["origin", .provenance.origin // "not stated"],
   ["currency", currency],
   ["window", ($window.start | known), ($window.end | known)],
   ["observed", "\($window.observed_seconds) of \($window.span_seconds) seconds"],
   ["all events", ($all.total | known), "\($all.mean_rate_per_s | known) a second"],
   # Missing or null means that it was not observed.
   (.facts.collections | to_entries[] |
     if .value == null then [.key, "not observed"]
     else [.key, (.value.total | tostring), "\(.value.mean_rate_per_s | known) a second"] end),
   # Caveats, and what is not measured, are part of the fact.
   (.caveats[] | ["caveat", .]),
   (.provenance.does_not_measure // [] | .[] | ["does not measure", .])) | join("\t")' <<<"$body"
