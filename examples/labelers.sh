#!/usr/bin/env bash
# What do labelers do? labelers.sh BASE-ADDRESS. Exit code 3 when the service refuses the fact.
set -euo pipefail
. "$(dirname "$0")/facts.sh"
body=$(fact "${1:-http://127.0.0.1:8400}" /v1/labels/overview atproto.facts.labels.overview/v1)
jq -r '
  # Null means not known. It is not a zero.
  def known: if . == null then "not known" else tostring end;
  .facts as $facts |
  (["origin", .provenance.origin // "not stated"],
   ["freshness", .freshness.state],
   (if $facts.counts then $facts.counts as $counts | $facts.coverage as $coverage |
      ["coverage", $coverage.status, "\($coverage.observed_days) of \($facts.window_days) days"],
      ["gaps", (if $coverage.gap_overflow then "more than can be listed" else $coverage.gaps | length | tostring end)],
      ["sources", "\($coverage.sources.established) of \($coverage.sources.enrolled) established"],
      ["events in 24 hours", ($counts.events_24h | tostring)],
      ["events in 7 days", ($counts.events_7d | tostring)],
      ["events in the window", ($counts.events_window | tostring)],
      ["labelers active in 7 days", ($counts.labelers_active_7d | tostring)]
    else
      # The legacy producer counts alerts, and states how complete its observation was.
      ["observation", ($facts.observation.adequacy | known)],
      ["signals", ($facts.network_weather.signals | join(", "))],
      ["alerts in 7 days", ($facts.alert_count_window | known)]
    end),
   ($facts.top_labelers_7d[] | [.labeler_did, (.count | tostring)]),
   # Caveats, and what is not measured, are part of the fact.
   (.caveats[] | ["caveat", .]),
   (.provenance.does_not_measure // [] | .[] | ["does not measure", .])) | join("\t")' <<<"$body"
