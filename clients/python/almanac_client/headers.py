"""Response headers that decide when the next request is sent."""

import math
import re
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Dict, Mapping, Optional

#: Maximum lifetime of a response in seconds, regardless of its headers.
MAX_SECONDS = 3600

#: Lifetime in caches of a response of the contract, in seconds.
DEFAULT_SECONDS = 60

#: Maximum length of a validator in characters: servers refuse a request whose headers are too long.
MAX_VALIDATOR = 1024


def validator(headers: Mapping[str, str]) -> Optional[str]:
    """Returns the ``ETag`` of a response, or None if the next request cannot contain it."""
    etag = headers.get("etag")
    return etag if etag is not None and len(etag) <= MAX_VALIDATOR else None


def max_age_seconds(headers: Mapping[str, str]) -> int:
    """Returns the time for which a response may be reused without a request: ``max-age`` less the response's ``Age``."""
    seconds = _lifetimes(headers).get("max-age", 0)
    age = _whole_seconds(headers.get("age")) or 0
    return max(0, min(seconds, MAX_SECONDS) - age)


def cache_lifetime_seconds(headers: Mapping[str, str]) -> int:
    """Returns the time for which caches may keep a response: the longer of ``max-age`` and ``s-maxage``.

    Returns 0 for a response with ``no-store`` or ``no-cache``, and the contract's minute for one without a lifetime.
    """
    return min(max(_lifetimes(headers).values(), default=DEFAULT_SECONDS), MAX_SECONDS)


def date(headers: Mapping[str, str]) -> Optional[float]:
    """Returns the ``Date`` of a response in seconds since 1970; None if it is absent or invalid."""
    return _http_date(headers.get("date", ""))


def _lifetimes(headers: Mapping[str, str]) -> Dict[str, int]:
    """Returns the lifetimes that ``Cache-Control`` states."""
    directives = [part.strip() for part in headers.get("cache-control", "").lower().split(",")]
    if "no-store" in directives or "no-cache" in directives:
        return {"max-age": 0}
    stated = {}
    for name in ("max-age", "s-maxage"):
        first = next((part[len(name) + 1 :] for part in directives if part.startswith(f"{name}=")), None)
        seconds = _whole_seconds(first)
        if seconds is not None:
            stated[name] = seconds
    return stated


def retry_after_seconds(headers: Mapping[str, str], now: float) -> Optional[int]:
    """Returns the delay in seconds from ``Retry-After`` in either format; None if it is absent or invalid.

    ``now`` is in seconds since 1970.
    """
    text = headers.get("retry-after")
    if text is None:
        return None
    seconds = _whole_seconds(text)
    if seconds is None:
        until = _http_date(text)
        if until is None:
            return None
        seconds = math.ceil(until - now)
    return min(max(seconds, 0), MAX_SECONDS)


def _http_date(text: str) -> Optional[float]:
    try:
        parsed = parsedate_to_datetime(text)
        # A date without a zone is in UTC.
        return (parsed if parsed.tzinfo else parsed.replace(tzinfo=timezone.utc)).timestamp()
    except (TypeError, ValueError, OverflowError, IndexError):
        return None


def _whole_seconds(text: Optional[str]) -> Optional[int]:
    found = re.fullmatch(r"\s*([0-9]{1,12})\s*", text or "")
    return int(found.group(1)) if found else None
