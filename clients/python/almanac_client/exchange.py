"""One request, with a deadline for the whole response and a limit on its size."""

import http.client
import socket
import ssl
import threading
import time
import urllib.error
import urllib.request
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Callable, Mapping, Optional

from .version import __version__


@dataclass(frozen=True)
class Response:
    """A complete response. The names of its headers are in lower case."""

    status: int
    headers: Mapping[str, str]
    body: bytes


class ResponseTooLarge(Exception):
    """The response has more bytes than permitted."""

    def __init__(self, status: int) -> None:
        super().__init__(status)
        self.status = status


#: A function that sends a GET request: address, headers, timeout of the whole response in seconds, maximum size of the
#: body in bytes. Raises TimeoutError if the response is not complete in time, ResponseTooLarge, or OSError.
Transport = Callable[[str, Mapping[str, str], float, int], Response]


def send(url: str, headers: Mapping[str, str], timeout: float, max_bytes: int) -> Response:
    """Sends a request with ``urllib``: the default transport. It uses the system's proxy settings."""
    deadline = _Deadline(timeout)
    request = urllib.request.Request(url, headers={"User-Agent": f"almanac-client-python/{__version__}", **headers})
    try:
        with _opened(_opener(deadline), request, timeout) as response:
            complete = _complete(response, max_bytes)
            # A body without a Content-Length ends where its connection is shut down.
            if deadline.passed:
                raise TimeoutError("no complete response in time")
            return complete
    except (OSError, http.client.HTTPException, ValueError) as error:
        if deadline.passed or _is_timeout(error):
            raise TimeoutError("no complete response in time") from error
        raise ConnectionError("no complete response") from error
    finally:
        deadline.cancel()


class _Deadline:
    """Shuts the sockets of one request down when the time is over, because timeouts of sockets restart with each byte."""

    def __init__(self, seconds: float) -> None:
        self._until = time.monotonic() + seconds
        self._lock = threading.Lock()
        self._socket: Optional[socket.socket] = None
        self.passed = False
        self._timer = threading.Timer(seconds, self._pass)
        self._timer.daemon = True
        self._timer.start()

    def remaining(self) -> float:
        return max(0.001, self._until - time.monotonic())

    def watch(self, connected: socket.socket) -> None:
        with self._lock:
            self._socket = connected
            if self.passed:
                self._shut_down()

    def cancel(self) -> None:
        self._timer.cancel()
        with self._lock:
            self._socket = None

    def _pass(self) -> None:
        with self._lock:
            self.passed = True
            self._shut_down()

    def _shut_down(self) -> None:
        if self._socket is None:
            return
        try:
            # The method of the plain socket: that of a TLS socket would also discard its state, which is in use.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        except OSError:
            pass


def _opener(deadline: _Deadline) -> urllib.request.OpenerDirector:
    class Connection(http.client.HTTPConnection):
        def connect(self) -> None:
            self.timeout = deadline.remaining()
            super().connect()
            deadline.watch(self.sock)

    class SecureConnection(http.client.HTTPSConnection):
        def connect(self) -> None:
            self.timeout = deadline.remaining()
            super().connect()
            deadline.watch(self.sock)

    class Http(urllib.request.HTTPHandler):
        def http_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(Connection, req)

    class Https(urllib.request.AbstractHTTPHandler):
        https_request = urllib.request.AbstractHTTPHandler.do_request_

        def https_open(self, req: urllib.request.Request) -> Any:
            return self.do_open(SecureConnection, req, context=_tls_context())

    class Redirects(urllib.request.HTTPRedirectHandler):
        def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            following = super().redirect_request(req, fp, code, msg, headers, newurl)
            # The base class then reads the whole body without a limit, and closes the response.
            fp.read = lambda *_: b""
            fp.length = 0
            return following

    # Only http and https: a redirect to a file or to ftp is an error.
    opener = urllib.request.OpenerDirector()
    for handler in (
        urllib.request.ProxyHandler(),
        urllib.request.UnknownHandler(),
        urllib.request.HTTPDefaultErrorHandler(),
        Redirects(),
        urllib.request.HTTPErrorProcessor(),
        Http(),
        Https(),
    ):
        opener.add_handler(handler)
    return opener


@lru_cache(maxsize=None)
def _tls_context() -> ssl.SSLContext:
    """Returns the context of all connections: loading the system's certificates for each takes up to a second."""
    return ssl.create_default_context()


def _opened(opener: urllib.request.OpenerDirector, request: urllib.request.Request, timeout: float) -> Any:
    try:
        return opener.open(request, timeout=timeout)
    except urllib.error.HTTPError as response:
        # A status other than 2xx is a response too.
        return response


def _complete(response: Any, max_bytes: int) -> Response:
    body = response.read(max_bytes + 1)
    if len(body) > max_bytes:
        raise ResponseTooLarge(response.status)
    # `read` with a size does not report a body that is shorter than its Content-Length.
    if response.length:
        raise http.client.IncompleteRead(body)
    return Response(response.status, {name.lower(): value for name, value in response.headers.items()}, body)


def _is_timeout(error: BaseException) -> bool:
    reason = getattr(error, "reason", None)
    return isinstance(error, (TimeoutError, socket.timeout)) or isinstance(reason, (TimeoutError, socket.timeout))
