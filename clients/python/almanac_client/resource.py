"""The cached reading and the shared request of one path."""

import json
import threading
import time
from concurrent.futures import Future
from dataclasses import replace
from typing import Any, Callable, Dict, Generic, Mapping, NoReturn, Optional, Tuple, TypeVar, Union, cast

from .errors import AnswerError, FactsError, NetworkError, StaleCacheError
from .exchange import Response, ResponseTooLarge, Transport
from .forks import Forkable
from .headers import cache_lifetime_seconds, max_age_seconds, retry_after_seconds, validator
from .reading import Kept, Reading, max_delivery_of, supersedes, within
from .schemas import LabelFreshness
from .staleness import Refusal, ServiceClock, Staleness, Terms

E = TypeVar("E")


class Resource(Forkable, Generic[E]):
    """Requests one path of the service. Simultaneous callers of several threads share one request."""

    def __init__(
        self,
        base: str,
        path: str,
        contract: str,
        transport: Transport,
        timeout: float,
        max_bytes: int,
        now: Callable[[], float],
        clock: ServiceClock,
        has_bound: bool = False,
    ) -> None:
        super().__init__()
        self._url = base + path
        self._path = path
        self._contract = contract
        self._transport = transport
        self._timeout = timeout
        self._max_bytes = max_bytes
        self._now = now
        self._clock = clock
        self._has_bound = has_bound
        #: Last refusal whose time is known.
        self._refusal: Optional[Refusal] = None
        self._lock = threading.Lock()
        self._kept: Optional[Kept[E]] = None
        #: Error of a response with `Retry-After`, the time of its arrival, and the seconds for which it is raised again.
        self._pause: Optional[Tuple[Union[FactsError, AnswerError], float, float]] = None
        self._pending: "Optional[Future[Reading[E]]]" = None

    def after_fork(self) -> None:
        """Forgets the pending request: the thread that sent it exists only in the parent process."""
        self._lock = threading.Lock()
        self._pending = None

    def __call__(self) -> Reading[E]:
        """Returns the reading. Raises FactsError, NetworkError, AnswerError or StaleCacheError."""
        with self._lock:
            now = self._now()
            if self._pause is not None and within(self._pause[1], self._pause[2], now):
                # Clear the traceback, because each `raise` of the same error would extend it.
                raise self._pause[0].with_traceback(None)
            kept = self._kept
            if kept is not None and kept.is_usable(now) and not self._staleness(kept, None, now):
                return kept.reading("kept")
            pending, mine = self._pending, self._pending is None
            if pending is None:
                pending = self._pending = Future()
            etag = self._kept.etag if self._kept else None
        if mine:
            self._run(pending, etag)
        return pending.result()

    def _run(self, pending: "Future[Reading[E]]", etag: Optional[str]) -> None:
        try:
            response = self._exchange(etag)
            with self._lock:
                self._pending = None
                self._pause = None
                reading = self._accepted(response)
        except BaseException as error:
            with self._lock:
                self._pending = None
            pending.set_exception(error)
        else:
            pending.set_result(reading)

    def _exchange(self, etag: Optional[str]) -> Response:
        headers = {"Accept": "application/json"}
        if etag is not None:
            headers["If-None-Match"] = etag
        try:
            return self._transport(self._url, headers, self._timeout, self._max_bytes)
        except ResponseTooLarge as error:
            why = f"the response is larger than {self._max_bytes} bytes"
            raise AnswerError(self._path, error.status, why) from error
        except TimeoutError as error:
            raise NetworkError(self._path, "timeout") from error
        except OSError as error:
            raise NetworkError(self._path, "unreachable") from error

    def _staleness(self, kept: "Kept[E]", headers: Optional[Mapping[str, str]], at: float) -> Optional[Staleness]:
        terms = Terms(kept.lifetime, self._has_bound, self._refusal)
        return self._clock.staleness(cast(Mapping[str, Any], kept.value), headers, terms, at)

    def _accepted(self, response: Response) -> Reading[E]:
        at, tick = self._now(), time.monotonic()
        max_age, lifetime = max_age_seconds(response.headers), cache_lifetime_seconds(response.headers)
        kept = self._kept
        if response.status == 304 and kept is not None:
            confirmed = replace(kept, confirmed_at=at, tick=tick, max_age=max_age, lifetime=lifetime)
            staleness = self._staleness(confirmed, response.headers, at)
            # Drop an expired reading, so that a cache cannot confirm it again.
            self._kept = confirmed if staleness is None else None
            if staleness is not None:
                raise StaleCacheError(self._path, staleness)
            return confirmed.reading("revalidated")
        if response.status != 200:
            self._refuse(response, at)
        value = self._parsed(response)
        etag, delivery = validator(response.headers), max_delivery_of(lifetime)
        following = Kept(cast(E, value), etag, at, tick, delivery, at, tick, max_age, lifetime)
        staleness = self._staleness(following, response.headers, at)
        if kept is not None and supersedes(kept, value, at) and self._staleness(kept, None, at) is None:
            return kept.reading("kept_newer")
        if staleness is not None:
            raise StaleCacheError(self._path, staleness)
        self._kept = following
        return following.reading("fetched")

    def _refuse(self, response: Response, at: float) -> NoReturn:
        wait = retry_after_seconds(response.headers, at)
        body = _error_body(response.body)
        error: Union[FactsError, AnswerError]
        if body is None:
            error = AnswerError(self._path, response.status, "the response is not from this service", wait)
        else:
            code, message, freshness = body
            error = FactsError(self._path, response.status, code, message, freshness, wait)
            # Drop the cached reading: after the service has refused the fact, the earlier reading is no longer valid.
            self._kept = None
            self._refusal = self._clock.refused(response.headers, at) or self._refusal
        if wait is not None:
            self._pause = (error, at, wait)
        raise error

    def _parsed(self, response: Response) -> Dict[str, Any]:
        """Parses a body and checks its contract. The client trusts the service for the remaining fields."""
        try:
            text = response.body.decode("utf-8")
        except UnicodeDecodeError as error:
            raise AnswerError(self._path, response.status, "the response is not UTF-8") from error
        value = _object_in(text)
        if value is None:
            raise AnswerError(self._path, response.status, "the response is not a JSON object")
        if value.get("contract") != self._contract:
            why = f"the response does not conform to {self._contract}"
            raise AnswerError(self._path, response.status, why)
        return value


def _error_body(body: bytes) -> Optional[Tuple[str, str, Optional[LabelFreshness]]]:
    error = (_object_in(body.decode("utf-8", errors="replace")) or {}).get("error")
    if not isinstance(error, dict):
        return None
    code, message, freshness = error.get("code"), error.get("message"), error.get("freshness")
    if not isinstance(code, str) or not isinstance(message, str):
        return None
    stated = isinstance(freshness, dict) and isinstance(freshness.get("state"), str)
    return code, message, cast(LabelFreshness, freshness) if stated else None


def _object_in(text: str) -> Optional[Dict[str, Any]]:
    try:
        value = json.loads(text, parse_constant=_reject_constant, parse_int=_integer)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


#: Maximum digits of an integer: reading a number takes quadratic time in Python 3.10 and earlier.
_MAX_DIGITS = 400


def _integer(digits: str) -> int:
    if len(digits) > _MAX_DIGITS:
        raise ValueError("an integer has too many digits")
    return int(digits)


def _reject_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not JSON")
