"""The currency of a weather fact: whether it still describes the present."""

import time
from typing import TYPE_CHECKING, Any, Literal, Mapping, Optional, Union

from .reading import Reading, instant

if TYPE_CHECKING:
    from .schemas import WeatherConditionsEnvelope, WeatherMetricsEnvelope

#: Currency of a weather fact. Show a weather fact as current only if its currency is ``current`` or ``partial``.
#: ``not_said``: the artifact does not state its age or its limit, or states a future time.
Currency = Literal["current", "partial", "old", "unavailable", "not_said"]

#: Minimum age in seconds. With a lower one, a clock is wrong, and the fact would stay current until that time has passed.
MIN_AGE_SECONDS = -300.0


def weather_currency(
    reading: "Union[Reading[WeatherConditionsEnvelope], Reading[WeatherMetricsEnvelope]]",
    now: Optional[float] = None,
) -> Currency:
    """Returns the currency of a reading at ``now``, in seconds since 1970 on this client's clock; by default the present.

    The service never refuses a weather fact for its age. It serves the freshness that the instrument computed when it
    wrote the artifact, so a client must add the age of the artifact. Counts the time since ``retrieved_at``, which is at
    most ``max_delivery`` before the arrival; a clock of this client that was wrong then changes the result by no more
    than that. Without ``now``, a clock that was set back after the arrival changes nothing.
    """
    value: Mapping[str, Any] = reading.value
    freshness: Mapping[str, Any] = value["freshness"]
    state: Currency = freshness["state"]
    if freshness["state"] == "stale":
        return "old"
    if state == "unavailable":
        return "unavailable"
    age, age_then, limit = value["age_seconds"], freshness["age_seconds"], freshness["max_age_seconds"]
    if age is None or age_then is None or limit is None:
        return "not_said"
    if age < MIN_AGE_SECONDS or age_then < MIN_AGE_SECONDS:
        return "not_said"
    return "old" if age + age_then + _elapsed(reading, now) > limit else state


def current_age(reading: "Reading[Any]", now: Optional[float] = None) -> Optional[float]:
    """Returns the seconds from the ``generated_at`` of a reading to ``now``; None if the artifact does not state its age.

    ``now`` is that of ``weather_currency``, and a clock that was wrong at the arrival changes the result by as little.
    """
    age: Optional[float] = reading.value.get("age_seconds")
    return None if age is None else age + _elapsed(reading, now)


def _elapsed(reading: "Reading[Any]", now: Optional[float]) -> float:
    """Returns the seconds from ``retrieved_at`` to ``now``; the time until the arrival counts up to the maximum."""
    held = max(0.0, (time.time() if now is None else now) - reading.received_at)
    if now is None and reading.received_tick is not None:
        held = max(held, time.monotonic() - reading.received_tick)
    retrieved = instant(reading.value.get("retrieved_at"))
    delivery = 0.0 if retrieved is None else reading.received_at - retrieved.timestamp()
    return held + min(reading.max_delivery, max(0.0, delivery))
