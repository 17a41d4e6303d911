"""Rules that detect an expired response.

A cache that serves expired responses on errors (Apache ``CacheStaleOnError``, nginx ``proxy_cache_use_stale``) hands out
the last 200 response in place of each refusal, without an ``Age``. The times in its body remain: they prove its age.
"""

import re
import threading
from dataclasses import dataclass
from typing import Any, Dict, Iterator, Literal, Mapping, Optional, Tuple

from .forks import Forkable
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
    #: of the response at the refusal (``refused_since``). It is a lower bound if the service's clock was set back.
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


#: Number of responses whose first arrival is remembered.
MAX_ARRIVALS = 1000


@dataclass(frozen=True)
class _Arrival:
    """``retrieved_at`` of a response in seconds since 1970, and the time of its arrival on this client's clock."""

    retrieved: float
    at: float


@dataclass(frozen=True)
class _SetBack:
    """Proof that the service's clock, or both clocks, were set back."""

    #: The response that completed the proof.
    by: _Arrival
    #: Arrival of the response that began the proof: the clock had been set back before.
    since: float


@dataclass(frozen=True)
class Refusal:
    """Last refusal of a fact: its time on both clocks, and the proof of a clock set back that was known then."""

    at: float
    arrived_at: float
    set_back: Optional[_SetBack]


@dataclass(frozen=True)
class Terms:
    """Lifetime of a response, and the last refusal of its fact."""

    #: Time for which caches may keep the response, in seconds.
    lifetime: float
    #: True if the service refuses the fact once its artifact exceeds the limits in ``freshness``: facts about labels.
    has_bound: bool
    #: Last refusal of the fact; None if it is not known.
    refusal: Optional[Refusal]

    @property
    def limit(self) -> float:
        """Time for which the service and caches may repeat the response, in seconds."""
        return REPRESENTATION_SECONDS + self.lifetime


class ServiceClock(Forkable):
    """The service's clock, as far as its responses state it. Threads may share it.

    A cached response states an earlier time than the present, so only the ``Date`` of a refusal, which no cache keeps,
    states the present time. Each ``retrieved_at`` proves only that the service's clock has reached that time. If the
    clock was ahead and is set back, new responses look old: they are accepted once a sequence of them proves that the
    clock runs, because a cache only repeats what it has stored.
    """

    def __init__(self) -> None:
        super().__init__()
        self._lock = threading.Lock()
        #: Latest ``retrieved_at``, and the time at which it first arrived.
        self._latest: Optional[_Arrival] = None
        #: Seconds by which this client's clock is ahead according to the last refusal, and the time of its arrival.
        self._told: Optional[Tuple[float, float]] = None
        #: Last proof that a clock was set back.
        self._set_back: Optional[_SetBack] = None
        #: First rejected response that would be current if a clock was set back.
        self._doubted: Optional[_Arrival] = None
        #: First arrival of each of the last responses, by ``retrieved_at``.
        self._arrivals: Dict[float, float] = {}

    def after_fork(self) -> None:
        """Replaces the lock: the thread that held it exists only in the parent process."""
        self._lock = threading.Lock()

    def refused(self, headers: Mapping[str, str], now: float) -> Optional[Refusal]:
        """Records a refusal that arrived at ``now`` on this client's clock.

        Returns the refusal, with the time on the service's clock before which a response of this fact is no longer
        valid; None if the refusal has no valid ``Date``, or may come from a cache.
        """
        stated = date(headers)
        is_stored = re.search(r"\bno-store\b", headers.get("cache-control", ""), re.IGNORECASE) is None
        # Some caches state the age 0 in responses that they pass on without storing them.
        if stated is None or is_stored or headers.get("age", "").strip().strip("0") != "":
            return None
        with self._lock:
            self._told = (now - stated, now)
            # A `Date` is in whole seconds: a response that arrived earlier may have been built later in the same second.
            at = stated if self._latest is None else max(stated, self._latest.retrieved + 0.001)
            return Refusal(at, now, self._set_back)

    def staleness(
        self, value: Mapping[str, Any], headers: Optional[Mapping[str, str]], terms: Terms, now: float
    ) -> Optional[Staleness]:
        """Returns the reason why a response does not describe the present at ``now``, on this client's clock.

        Returns None if it does, or if it does not state when it was built. Call this method at the arrival, and again
        without headers for a kept response.
        """
        stated = instant(value.get("retrieved_at"))
        if stated is None:
            return None
        retrieved = stated.timestamp()
        with self._lock:
            if headers is None:
                return self._judge(value, headers, retrieved, terms, now)
            self._arrive(retrieved, terms.limit, now)
            found = self._judge(value, headers, retrieved, terms, now)
            if found is None:
                self._doubted = None
            elif self._record_rejected(retrieved, terms.limit, now):
                return self._judge(value, headers, retrieved, terms, now)
            return found

    def _judge(
        self, value: Mapping[str, Any], headers: Optional[Mapping[str, str]], retrieved: float, terms: Terms, now: float
    ) -> Optional[Staleness]:
        told = self._told[0] if self._told is not None and within(self._told[1], TOLD_SECONDS, now) else None
        by_clock = now - (told or 0.0) - retrieved
        # A clock that is behind does not hide the age: a later response and the time since its arrival prove it too.
        by_responses = self._age(retrieved, terms.limit, now)
        elapsed = max(0.0, by_clock, by_responses)
        clock: Literal["client", "service"] = "service" if told is not None or by_responses > by_clock else "client"
        if clock == "client":
            ahead: Optional[int] = _whole(now - _response_time(headers, retrieved, terms))
        else:
            ahead = None if told is None else _whole(told)
        refused_at, arrived_at = self._refused_at(terms)
        # If the service's clock was ahead, a response that arrived before the refusal may state a later time. A refusal that
        # arrived ahead of this client's clock proves no order, because this client's clock was set back.
        if retrieved < refused_at or self._arrivals.get(retrieved, now) < arrived_at <= now:
            return Staleness("refused_since", _whole(max(0.0, refused_at - retrieved)), 0, clock, ahead)
        if terms.has_bound:
            for age, limit in _bounded_ages(value):
                if age + elapsed > limit + CLOCK_TOLERANCE_SECONDS:
                    return Staleness("older_than_bound", _whole(age + elapsed), _whole(limit), clock, ahead)
        maximum = terms.limit
        if elapsed > maximum + CLOCK_TOLERANCE_SECONDS:
            return Staleness("expired", _whole(elapsed), _whole(maximum), clock, ahead)
        return None

    def _arrive(self, retrieved: float, limit: float, now: float) -> None:
        """Records the arrival of a response that caches may repeat for ``limit``."""
        if retrieved in self._arrivals:
            return
        self._arrivals[retrieved] = now
        if len(self._arrivals) > MAX_ARRIVALS:
            del self._arrivals[next(iter(self._arrivals))]
        is_latest = self._latest is None or retrieved > self._latest.retrieved
        if is_latest and not self._is_ahead(retrieved, limit, now):
            self._latest = _Arrival(retrieved, now)

    def _age(self, retrieved: float, limit: float, now: float) -> float:
        """Returns the minimum age of a response according to the arrivals of this and other responses."""
        latest = self._latest or _Arrival(retrieved, now)
        since_latest = latest.retrieved - retrieved + max(0.0, now - latest.at)
        since_arrival = now - self._arrivals.get(retrieved, now)
        since_set_back = 0.0
        # The service built a response ahead of its clock before that clock was set back, so the response has expired.
        if self._set_back is not None and self._is_ahead(retrieved, limit, now):
            since_set_back = max(now - self._set_back.since, limit + CLOCK_TOLERANCE_SECONDS + 1)
        return max(since_latest, since_arrival, since_set_back)

    def _record_rejected(self, retrieved: float, limit: float, now: float) -> bool:
        """Records a rejected response that has just arrived. Returns True if it proves that a clock was set back.

        Since the first response in doubt, ``retrieved_at`` has then advanced as this client's clock has, for longer than
        caches may repeat a response. A response that has arrived before proves nothing.
        """
        if self._arrivals.get(retrieved) != now:
            return False
        first = self._doubted or _Arrival(retrieved, now)
        passed = now - first.at
        ahead = retrieved - first.retrieved - passed
        # Begin again with a response that does not fit: the first may be one that a cache has kept.
        fits = passed >= 0 and -CLOCK_TOLERANCE_SECONDS <= ahead <= limit + CLOCK_TOLERANCE_SECONDS
        self._doubted = first if fits else _Arrival(retrieved, now)
        if not fits or passed < limit + CLOCK_TOLERANCE_SECONDS:
            return False
        self._latest = _Arrival(retrieved, now)
        self._set_back = _SetBack(self._latest, first.at)
        self._told = self._doubted = None
        # If this client's clock was set back too, earlier arrivals are dated ahead of it.
        self._arrivals = {earlier: first.at if at > now else at for earlier, at in self._arrivals.items()}
        return True

    def _is_ahead(self, retrieved: float, limit: float, now: float) -> bool:
        """Returns True for a response that is ahead of a clock that was set back.

        A cache may have kept it since then: without a proof that the clock runs at this time, it says nothing about the
        clock.
        """
        if self._set_back is None or self._latest is None:
            return False
        ahead = retrieved - self._latest.retrieved - max(0.0, now - self._latest.at)
        return ahead > limit + CLOCK_TOLERANCE_SECONDS

    def _refused_at(self, terms: Terms) -> Tuple[float, float]:
        """Returns the time of the last refusal on the service's and on this client's clock, also if they were set back since."""
        refusal, set_back = terms.refusal, self._set_back
        if refusal is None:
            return 0.0, 0.0
        if set_back is None or set_back is refusal.set_back:
            return refusal.at, refusal.arrived_at
        arrived = refusal.arrived_at if refusal.arrived_at <= set_back.by.at else set_back.since
        # The response of the proof may have been built up to the limit before it arrived.
        return min(refusal.at, arrived + set_back.by.retrieved - set_back.by.at + terms.limit), arrived


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
    if stated is None or not retrieved - 1 < stated <= retrieved + terms.limit:
        return retrieved
    return max(stated, retrieved)


def _whole(seconds: float) -> int:
    return round(seconds * 1000) // 1000
