# Asks the facts API with curl and jq. Sourced by the examples beside it.

# The seconds since the service built a response, for programs in jq.
elapsed='def elapsed: [now - (.retrieved_at[0:19] + "Z" | fromdateiso8601), 0] | max;'

# fact BASE PATH: the body of a fact. Ends the program with exit code 3 when the service refuses it, and 1 without a
# usable answer.
fact() {
  local answer status refusal seconds
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
  # A cache that repeats an expired response may hide a refusal. The limit is a minute in the service, a minute in caches,
  # and a minute for the difference between the clocks.
  if ! seconds=$(jq -r "$elapsed elapsed | floor" <<<"$answer" 2>/dev/null); then
    echo "no usable answer from $1: it does not state when it was built" >&2
    exit 1
  fi
  if [ "$seconds" -gt 180 ]; then
    echo "no usable answer from $1: the response was built $seconds s ago: a cache repeats it, or the clock of this machine is wrong" >&2
    exit 1
  fi
  printf '%s' "$answer"
}
