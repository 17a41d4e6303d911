"""Response headers that decide when the next request is sent."""

import math
import re
from datetime import timezone
from email.utils import parsedate_to_datetime
from typing import Mapping, Optional

#: Maximum lifetime of a response in seconds, regardless of its headers.
MAX_SECONDS = 3600

#: Maximum length of a validator in characters: servers refuse a request whose headers are too long.
MAX_VALIDATOR = 1024


def validator(headers: Mapping[str, str]) -> Optional[str]:
    """Returns the ``ETag`` of a response, or None if the next request cannot contain it."""
    etag = headers.get("etag")
    return etag if etag is not None and len(etag) <= MAX_VALIDATOR else None


def max_age_seconds(headers: Mapping[str, str]) -> int:
    """Returns the time for which a response may be reused without a request: ``max-age`` less the response's ``Age``."""
    directives = [part.strip() for part in headers.get("cache-control", "").lower().split(",")]
    if "no-store" in directives or "no-cache" in directives:
        return 0
    stated = next((part[len("max-age=") :] for part in directives if part.startswith("max-age=")), None)
    seconds = _whole_seconds(stated) or 0
    age = _whole_seconds(headers.get("age")) or 0
    return max(0, min(seconds, MAX_SECONDS) - age)


def retry_after_seconds(headers: Mapping[str, str], now: float) -> Optional[int]:
    """Returns the delay in seconds from ``Retry-After`` in either format; None if it is absent or invalid.

    ``now`` is in seconds since 1970.
    """
    text = headers.get("retry-after")
    if text is None:
        return None
    seconds = _whole_seconds(text)
    if seconds is None:
        try:
            date = parsedate_to_datetime(text)
            # A date without a zone is in UTC.
            seconds = math.ceil((date if date.tzinfo else date.replace(tzinfo=timezone.utc)).timestamp() - now)
        except (TypeError, ValueError, OverflowError, IndexError):
            return None
    return min(max(seconds, 0), MAX_SECONDS)


def _whole_seconds(text: Optional[str]) -> Optional[int]:
    found = re.fullmatch(r"\s*([0-9]{1,12})\s*", text or "")
    return int(found.group(1)) if found else None
