"""A fact with its currency, and the rule that keeps the newer of two readings."""

import json
import re
import time
from dataclasses import dataclass, field
from datetime import datetime, timezone
from typing import Any, Dict, Generic, Literal, Mapping, Optional, TypeVar

E = TypeVar("E")

Via = Literal["fetched", "revalidated", "kept", "kept_newer"]

#: Seconds after the last confirmation of a newer reading during which an older reading is ignored. Outdated nodes and
#: caches send older readings briefly; a service that still sends one after this time published it deliberately.
SUPERSEDE_SECONDS = 15 * 60


#: A minute in seconds.
MINUTE = 60.0


@dataclass(frozen=True)
class Reading(Generic[E]):
    """A fact as the service sent it, with its times. Treat ``value`` as read-only: later calls may return it again."""

    #: The body exactly as it arrived. Its ``age_seconds`` is the age at its ``retrieved_at``, up to ``max_delivery`` earlier.
    value: E
    #: Origin of the reading. ``fetched``: this call's response contained the body. ``revalidated``: the body arrived
    #: earlier, and this call's response confirmed it. ``kept``: the body is younger than its ``max-age``, so no request
    #: was sent. ``kept_newer``: this call's response contained an older reading, which does not replace this newer one.
    via: Via
    #: Time at which the body arrived, on this client's clock, in seconds since 1970.
    received_at: float
    #: Time at which the service last confirmed the body, on this client's clock, in seconds since 1970.
    confirmed_at: float
    #: Maximum time in seconds from ``retrieved_at`` to the arrival, which caches may prolong: a minute in the service, and
    #: a minute in caches, or the longer lifetime that the response stated.
    max_delivery: float = 2 * MINUTE
    #: Time at which the body arrived, on a monotonic clock, in seconds: this client's clock may be set back.
    received_tick: Optional[float] = field(default=None, repr=False, compare=False)

    def __getstate__(self) -> Dict[str, Any]:
        """Returns the fields of a copy, which another machine may read: its monotonic clock has another origin."""
        return {**self.__dict__, "received_tick": None}


@dataclass(frozen=True)
class Kept(Generic[E]):
    """A reading that is cached for the next call."""

    value: E
    etag: Optional[str]
    received_at: float
    received_tick: float
    max_delivery: float
    confirmed_at: float
    #: Time of the last confirmation on a monotonic clock, in seconds: this client's clock may be set back.
    tick: float
    #: Time in seconds after the last confirmation during which the client sends no request.
    max_age: float
    #: Time in seconds for which caches may keep the body, according to the last confirmation.
    lifetime: float

    def is_usable(self, now: float) -> bool:
        """Returns True while the client sends no request."""
        return within(self.confirmed_at, self.max_age, now) and within(self.tick, self.max_age, time.monotonic())

    def reading(self, via: Via) -> "Reading[E]":
        """Returns the reading with its origin."""
        return Reading(self.value, via, self.received_at, self.confirmed_at, self.max_delivery, self.received_tick)


def max_delivery_of(lifetime: float) -> float:
    """Returns the maximum time from ``retrieved_at`` to the arrival of a response with a lifetime in caches, in seconds."""
    return MINUTE + max(MINUTE, lifetime)


def within(since: float, span: float, now: float) -> bool:
    """Returns True if fewer than ``span`` seconds have passed since ``since``; False if the clock was set back."""
    return now >= since and now - since < span


def supersedes(kept: "Kept[Any]", following: Mapping[str, Any], now: float) -> bool:
    """Returns True if ``kept`` is a later computation of the fact than ``following``, which then must not replace it."""
    before, after = instant(kept.value.get("generated_at")), instant(following.get("generated_at"))
    if before is None or after is None or before <= after:
        return False
    # A `generated_at` ahead of the service's clock does not prove that the cached reading is newer.
    age = kept.value.get("age_seconds")
    if isinstance(age, (int, float)) and age < 0:
        return False
    return _series(kept.value) == _series(following) and within(kept.confirmed_at, SUPERSEDE_SECONDS, now)


def instant(text: Any) -> Optional[datetime]:
    """Returns a timestamp of the contract, or None for any other value."""
    found = re.fullmatch(r"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d+))?(?:Z|\+00:00)", text) if isinstance(text, str) else None
    if found is None:
        return None
    try:
        # Python 3.10 and earlier parse neither `Z` nor every length of a fraction.
        whole = datetime.fromisoformat(found.group(1)).replace(tzinfo=timezone.utc)
    except ValueError:
        return None
    return whole.replace(microsecond=1000 * int(((found.group(2) or "") + "000")[:3]))


def _series(value: Mapping[str, Any]) -> str:
    """Returns the producer and input of a fact as one key: times of two series are not comparable."""
    provenance = _object(value.get("provenance"))
    acquisition = _object(_object(value.get("facts")).get("acquisition"))
    return json.dumps(
        [
            _text(provenance.get("artifact_schema_version")),
            _text(provenance.get("origin")),
            _text(provenance.get("source_endpoint")),
            _text(acquisition.get("generation_id")),
        ]
    )


def _object(value: Any) -> Mapping[str, Any]:
    """Returns an object, or an empty one for a value of another type: the client does not check the shape of a fact."""
    return value if isinstance(value, dict) else {}


def _text(value: Any) -> Optional[str]:
    """Returns a text, or None for any other value: another value may be nested too deeply to be formatted."""
    return value if isinstance(value, str) else None
