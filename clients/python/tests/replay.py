"""Replays sequences of responses, given as JSON on stdin, and prints what the client returns or raises at each step."""

import json
import sys
from typing import Any, Dict, List, Mapping, Optional

from almanac_client import AnswerError, FactsClient, FactsError, Response, StaleCacheError


def replay(steps: List[Dict[str, Any]], noon: float) -> List[Any]:
    now = noon
    sent: List[Optional[str]] = []
    current: Dict[str, Any] = {}

    def transport(url: str, headers: Mapping[str, str], timeout: float, max_bytes: int) -> Response:
        sent.append(headers.get("If-None-Match"))
        return Response(current["status"], current["headers"], current["body"].encode())

    client = FactsClient("http://a.example/base/", transport=transport, now=lambda: now)
    trace = []
    for step in steps:
        now += step["advance"]
        current, sent = step, []
        outcome: List[Any]
        try:
            reading = client.labels_overview()
            value = json.dumps(reading.value, sort_keys=True, separators=(",", ":"))
            outcome = [reading.via, value, reading.received_at, reading.confirmed_at]
        except FactsError as error:
            state = error.freshness["state"] if error.freshness else None
            outcome = ["FactsError", error.status, error.code, str(error), error.retry_after_seconds, state]
        except StaleCacheError as error:
            found = error.staleness
            evidence = [found.reason, found.clock, found.age_seconds, found.limit_seconds, found.clock_ahead_seconds]
            outcome = ["StaleCacheError", str(error), *evidence]
        except AnswerError as error:
            outcome = ["AnswerError", error.status, str(error), error.retry_after_seconds]
        trace.append({"outcome": outcome, "sent": sent})
    return trace


if __name__ == "__main__":
    request = json.load(sys.stdin)
    json.dump([replay(steps, request["noon"]) for steps in request["sequences"]], sys.stdout)
