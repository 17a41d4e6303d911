# Asks the facts API with curl and jq. Sourced by the examples beside it.

# fact BASE PATH: the body of a fact. Ends the program with exit code 3 when the service refuses it.
fact() {
  local answer status
  answer=$(curl --silent --show-error --max-time 10 --max-filesize 4194304 --write-out '\n%{http_code}' "${1%/}$2") || exit 1
  status=${answer##*$'\n'}
  answer=${answer%$'\n'*}
  if [ "$status" != 200 ]; then
    # The refusal is the answer: nothing is shown in its place.
    jq -r '.error | ["refused", "\(.status) \(.code)", .message] | join("\t")' <<<"$answer" >&2
    exit 3
  fi
  printf '%s' "$answer"
}
