"""Errors of the client."""

from typing import Any, Dict, Optional, Tuple, Type

from .schemas import LabelFreshness
from .staleness import Staleness


class ClientError(Exception):
    """Base of all errors of the client: there is no reading."""

    def __init__(self, path: str, message: str) -> None:
        super().__init__(message)
        self.path = path
        self.message = message

    def __reduce__(self) -> Tuple[Any, ...]:
        # The default calls the class with `args`, which holds only the message.
        return _restored, (type(self), self.args, self.__dict__)


class FactsError(ClientError):
    """An error response of the service: a refused fact (503), or a request that the service cannot serve.

    The caller must not replace the error with a zero or an earlier reading.
    """

    def __init__(
        self,
        path: str,
        status: int,
        code: str,
        message: str,
        freshness: Optional[LabelFreshness],
        retry_after_seconds: Optional[int],
    ) -> None:
        super().__init__(path, message)
        self.status = status
        #: A code of the service's list; a later version of the service may add codes.
        self.code = code
        #: Freshness of a refused label artifact, with the reason for the refusal. None if the service could not read an
        #: artifact, and for any other error.
        self.freshness = freshness
        #: Seconds to wait before a retry, if the service states them.
        self.retry_after_seconds = retry_after_seconds


class NetworkError(ClientError):
    """A missing response. The client knows neither the state of the fact nor whether the service refused it."""

    def __init__(self, path: str, reason: str) -> None:
        late = reason == "timeout"
        super().__init__(path, f"{path}: " + ("no complete response in time" if late else "the service cannot be reached"))
        #: ``unreachable`` or ``timeout``.
        self.reason = reason


class AnswerError(ClientError):
    """A response outside this contract.

    Examples are a proxy's error page, a response that is too large or not JSON, and a response of another contract.
    """

    def __init__(self, path: str, status: int, why: str, retry_after_seconds: Optional[int] = None) -> None:
        super().__init__(path, f"{path}: {why} (status {status})")
        self.status = status
        #: Seconds to wait before a retry, if the response states them.
        self.retry_after_seconds = retry_after_seconds


class StaleCacheError(ClientError):
    """A response that does not describe the present.

    A cache between this client and the service serves expired responses, or this client's clock is wrong. The message
    states both, with the remedy. The caller must not replace the error with a zero or an earlier reading.
    """

    code = "served_by_stale_cache"

    def __init__(self, path: str, staleness: Staleness) -> None:
        super().__init__(path, staleness.describe(path))
        #: Evidence: the reason, the age and its limit, and the clock that determined the age.
        self.staleness = staleness


def _restored(kind: Type[ClientError], args: Tuple[Any, ...], fields: Dict[str, Any]) -> ClientError:
    """Returns an error with the given fields, for ``pickle`` and ``copy``."""
    error = kind.__new__(kind, *args)
    error.__dict__.update(fields)
    return error
