# Asks the facts API with curl and jq. Sourced by the examples beside it.

# The seconds since the service built a response, for programs in jq.
elapsed='def elapsed: [now - (.retrieved_at[0:19] + "Z" | fromdateiso8601), 0] | max;'

# Why the service would no longer give the response of a path, or nothing. A cache that repeats an expired response may
# hide a refusal.
expired='
  # A minute for the difference between the clocks.
  (elapsed - 60) as $seconds |
  # A minute in the service, and a minute in caches.
  if $seconds > 120 then "the response was built \(elapsed | floor) s ago"
  else
    # The service refuses a label fact whose artifact or whose observations are older than its limits.
    first(
      select($path | startswith("/v1/labels/")) |
      ([.age_seconds, .freshness.max_age_seconds], [.freshness.collection_age_seconds, .freshness.collection_max_age_seconds]) |
      select(.[0] and .[1] and .[0] + $seconds > .[1])) as [$age, $limit] |
    "the fact is \($age + $seconds + 60 | floor) s old, but the service refuses it after \($limit | floor) s"
  end'

# fact BASE PATH CONTRACT: the body of a fact. Ends the program with exit code 3 when the service refuses it, and 1 without a
# usable answer.
fact() {
  local answer status refusal expiry
  answer=$(curl --silent --show-error --max-time 10 --max-filesize 4194304 --write-out '\n%{http_code}' "${1%/}$2") || exit 1
  status=${answer##*$'\n'}
  answer=${answer%$'\n'*}
  if refusal=$(jq -er '.error | select(.code) | ["refused", "\(.status) \(.code)", .message] | join("\t")' <<<"$answer" 2>/dev/null); then
    # The refusal is the answer: nothing is shown in its place.
    echo "$refusal" >&2
    exit 3
  fi
  if [ "$status" != 200 ] || ! jq -e .contract <<<"$answer" >/dev/null 2>&1; then
    echo "no usable answer from $1: status $status" >&2
    exit 1
  fi
  if [ "$(jq -r .contract <<<"$answer")" != "$3" ]; then
    echo "no usable answer from $1: its contract is not $3" >&2
    exit 1
  fi
  if ! expiry=$(jq -r --arg path "$2" "$elapsed $expired" <<<"$answer" 2>/dev/null); then
    echo "no usable answer from $1: its times are not valid" >&2
    exit 1
  fi
  if [ -n "$expiry" ]; then
    echo "no usable answer from $1: $expiry: a cache repeats it, or the clock of this machine is wrong" >&2
    exit 1
  fi
  printf '%s' "$answer"
}
