"""Rules that detect an expired response.

A cache that serves expired responses on errors (Apache ``CacheStaleOnError``, nginx ``proxy_cache_use_stale``) hands out
the last 200 response in place of each refusal, without an ``Age``. The times in its body remain: they prove its age.
"""

import re
import threading
from dataclasses import dataclass
from typing import Any, Iterator, Literal, Mapping, Optional, Tuple

from .headers import date
from .reading import instant, within

#: Tolerance for the difference between two clocks, in seconds.
CLOCK_TOLERANCE_SECONDS = 60.0

#: Seconds for which the service itself sends the same representation: one age bucket of its ETag.
REPRESENTATION_SECONDS = 60.0

#: Seconds for which the client relies on the clock that the ``Date`` of a refusal stated.
TOLD_SECONDS = 15 * 60.0


@dataclass(frozen=True)
class Staleness:
    """Reason why a response does not describe the present."""

    #: ``expired``: the response was built longer ago than caches may keep it. ``older_than_bound``: the artifact or its
    #: collection exceeds the limit at which the service refuses it. ``refused_since``: the service has refused the fact
    #: after it built the response.
    reason: Literal["expired", "older_than_bound", "refused_since"]
    #: Age in whole seconds: of the response (``expired``), of the artifact or its collection (``older_than_bound``), or
    #: of the response at the refusal (``refused_since``).
    age_seconds: int
    #: Maximum of that age in whole seconds, without the tolerance for clocks.
    limit_seconds: int
    #: Clock that determined the age. ``service``: the times that the service stated in other responses.
    clock: Literal["client", "service"]
    #: Seconds by which this client's clock may be ahead of the service's: if no cache is in between, it is ahead by this
    #: time. For the clock ``service``: the difference that the last refusal stated. None if it is not known.
    clock_ahead_seconds: Optional[int]

    def describe(self, path: str) -> str:
        """Describes the staleness of the response for ``path``, and what to do about it."""
        age, limit, ahead = self.age_seconds, self.limit_seconds, self.clock_ahead_seconds
        found = {
            "expired": f"the response was built {age} s ago, but caches may keep it for {limit} s",
            "older_than_bound": f"the artifact is {age} s old, but the service refuses it after {limit} s",
            "refused_since": f"the service refused this fact {age} s after it built the response",
        }[self.reason]
        remedy = (
            "a cache serves expired responses: disable that "
            "(nginx: proxy_cache_use_stale off; Apache: CacheStaleOnError off)"
        )
        if ahead is None:
            return f"{path}: {found}; {remedy}"
        difference = f"this client's clock is {abs(ahead)} s {'behind' if ahead < 0 else 'ahead of'} the service's"
        if self.clock == "client":
            difference = f"if no cache is in between, {difference}: correct it"
        return f"{path}: {found}; {remedy}; {difference}"


@dataclass(frozen=True)
class Terms:
    """Lifetime of a response, and the last refusal of its fact."""

    #: Time for which caches may keep the response, in seconds.
    lifetime: float
    #: True if the service refuses the fact once its artifact exceeds the limits in ``freshness``: facts about labels.
    has_bound: bool
    #: Time of the last refusal on the service's clock, in seconds since 1970; None if it is not known.
    refused_at: Optional[float]


class ServiceClock:
    """The service's clock, as far as its responses state it. Threads may share it.

    A cached response states an earlier time than the present, so only the ``Date`` of a refusal, which no cache keeps,
    states the present time. Each ``retrieved_at`` proves only that the service's clock has reached that time.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        #: Latest ``retrieved_at``, and the time at which it first arrived.
        self._latest: Optional[Tuple[float, float]] = None
        #: Seconds by which this client's clock is ahead according to the last refusal, and the time of its arrival.
        self._told: Optional[Tuple[float, float]] = None

    def refused(self, headers: Mapping[str, str], now: float) -> Optional[float]:
        """Records a refusal that arrived at ``now`` on this client's clock.

        Returns the time on the service's clock before which a response of this fact is no longer valid; None if the
        refusal has no valid ``Date``, or may come from a cache.
        """
        stated = date(headers)
        is_stored = re.search(r"\bno-store\b", headers.get("cache-control", ""), re.IGNORECASE) is None
        # Some caches state the age 0 in responses that they pass on without storing them.
        if stated is None or is_stored or headers.get("age", "").strip().strip("0") != "":
            return None
        with self._lock:
            self._told = (now - stated, now)
            # A `Date` is in whole seconds: a response that arrived earlier may have been built later in the same second.
            return stated if self._latest is None else max(stated, self._latest[0] + 0.001)

    def staleness(
        self, value: Mapping[str, Any], headers: Optional[Mapping[str, str]], terms: Terms, now: float
    ) -> Optional[Staleness]:
        """Returns the reason why a response does not describe the present at ``now``, on this client's clock.

        Returns None if it does, or if it does not state when it was built. Call this method at the arrival, and again
        for a kept response.
        """
        stated = instant(value.get("retrieved_at"))
        if stated is None:
            return None
        retrieved = stated.timestamp()
        with self._lock:
            if self._latest is None or retrieved > self._latest[0]:
                self._latest = (retrieved, now)
            latest, latest_at = self._latest
            told = self._told[0] if self._told is not None and within(self._told[1], TOLD_SECONDS, now) else None
        by_clock = now - (told or 0.0) - retrieved
        # A clock that is behind does not hide the age: a later response and the time since its arrival prove it too.
        by_responses = latest - retrieved + max(0.0, now - latest_at)
        elapsed = max(0.0, by_clock, by_responses)
        clock: Literal["client", "service"] = "service" if told is not None or by_responses > by_clock else "client"
        if clock == "client":
            ahead: Optional[int] = _whole(now - _response_time(headers, retrieved, terms))
        else:
            ahead = None if told is None else _whole(told)
        if terms.refused_at is not None and retrieved < terms.refused_at:
            return Staleness("refused_since", _whole(terms.refused_at - retrieved), 0, clock, ahead)
        if terms.has_bound:
            for age, limit in _bounded_ages(value):
                if age + elapsed > limit + CLOCK_TOLERANCE_SECONDS:
                    return Staleness("older_than_bound", _whole(age + elapsed), _whole(limit), clock, ahead)
        maximum = REPRESENTATION_SECONDS + terms.lifetime
        if elapsed > maximum + CLOCK_TOLERANCE_SECONDS:
            return Staleness("expired", _whole(elapsed), _whole(maximum), clock, ahead)
        return None


def _bounded_ages(value: Mapping[str, Any]) -> Iterator[Tuple[float, float]]:
    """Yields the ages that the limits of a label fact apply to, at ``retrieved_at``, each with its limit, in seconds."""
    stated = value.get("freshness")
    freshness: Mapping[str, Any] = stated if isinstance(stated, dict) else {}
    for age, limit in (
        (value.get("age_seconds"), freshness.get("max_age_seconds")),
        (freshness.get("collection_age_seconds"), freshness.get("collection_max_age_seconds")),
    ):
        if _is_number(age) and _is_number(limit):
            yield age, limit


def _is_number(value: Any) -> bool:
    return isinstance(value, (int, float)) and not isinstance(value, bool)


def _response_time(headers: Optional[Mapping[str, str]], retrieved: float, terms: Terms) -> float:
    """Returns the time of a response according to its ``Date``, or its ``retrieved_at`` if its ``Date`` contradicts it."""
    stated = None if headers is None else date(headers)
    # A `Date` is in whole seconds.
    if stated is None or not retrieved - 1 < stated <= retrieved + REPRESENTATION_SECONDS + terms.lifetime:
        return retrieved
    return max(stated, retrieved)


def _whole(seconds: float) -> int:
    return round(seconds * 1000) // 1000
