"""Asks the facts API with the standard library alone."""

import http.client
import json
import sys
import urllib.error
import urllib.request
from datetime import datetime, timezone

MAX_BYTES = 4 * 1024 * 1024

# A minute in the service, and a minute in caches.
MAX_SECONDS = 120

# A minute for the difference between the clocks.
TOLERANCE_SECONDS = 60


def fact(path, contract):
    """The body of a fact. Ends the program with exit code 3 when the service refuses it, and 1 without a usable answer."""
    base = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8400"
    try:
        body = answer_of(base.rstrip("/") + path)
        if "error" in body:
            # The refusal is the answer: nothing is shown in its place.
            error = body["error"]
            print("refused", f"{error['status']} {error['code']}", error["message"], sep="\t", file=sys.stderr)
            sys.exit(3)
        if body["contract"] != contract:
            sys.exit(f"no usable answer from {base}: its contract is not {contract}")
        # A cache that repeats an expired response may hide a refusal.
        expiry = expired(path, body)
        if expiry:
            sys.exit(f"no usable answer from {base}: {expiry}: a cache repeats it, or the clock of this machine is wrong")
        return body
    except (OSError, http.client.HTTPException, ValueError, LookupError, TypeError, AttributeError) as fault:
        sys.exit(f"no usable answer from {base}: {fault}")


def answer_of(address):
    """The JSON of an address, whatever its status."""
    try:
        answer = urllib.request.urlopen(address, timeout=10)
    except urllib.error.HTTPError as refusal:
        answer = refusal
    with answer:
        return json.loads(answer.read(MAX_BYTES))


def elapsed(body):
    """The seconds since the service built a response."""
    built = datetime.fromisoformat(body["retrieved_at"].replace("Z", "+00:00"))
    return max(0, (datetime.now(timezone.utc) - built).total_seconds())


def expired(path, body):
    """Says why the service would no longer give this response, or nothing."""
    seconds = elapsed(body) - TOLERANCE_SECONDS
    if seconds > MAX_SECONDS:
        return f"the response was built {elapsed(body):.0f} s ago"
    # The service refuses a label fact whose artifact or whose observations are older than its limits.
    freshness = body["freshness"] if path.startswith("/v1/labels/") else {}
    for age, limit in (
        (body.get("age_seconds"), freshness.get("max_age_seconds")),
        (freshness.get("collection_age_seconds"), freshness.get("collection_max_age_seconds")),
    ):
        if age is not None and limit is not None and age + seconds > limit:
            return f"the fact is {age + elapsed(body):.0f} s old, but the service refuses it after {limit:.0f} s"
    return None


def known(value):
    """Null means not known. It is not a zero."""
    return "not known" if value is None else value


def currency(body):
    """Whether a weather fact still describes the present: its age when it was written, plus its age since then."""
    freshness, age = body["freshness"], body["age_seconds"]
    state, age_then, limit = freshness["state"], freshness["age_seconds"], freshness["max_age_seconds"]
    if state == "stale":
        return "old"
    if state == "unavailable":
        return state
    if age is None or age_then is None or limit is None:
        return "not_said"
    # A fact that is dated more than 300 s ahead comes from a wrong clock. It would otherwise be current until that time.
    if min(age, age_then) < -300:
        return "not_said"
    return "old" if age + age_then + elapsed(body) > limit else state
