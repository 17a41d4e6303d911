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
from typing import Any, Callable, Dict, Mapping, Optional, Tuple

from .version import __version__


@dataclass(frozen=True)
class Response:
    """A complete response. The names of its headers are in lower case, and values of a repeated one are joined by commas."""

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
    """Shuts down the current socket of one request at the deadline, because a socket timeout restarts with each byte."""

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

    def connect(self, address: Tuple[str, int], *_: Any) -> socket.socket:
        """Connects to the first address of a host that accepts the connection.

        The addresses share the time, whereas ``socket.create_connection`` would spend the whole timeout on each.
        """
        failure = OSError("the host has no address")
        found = socket.getaddrinfo(*address, 0, socket.SOCK_STREAM)
        for place, (family, kind, protocol, _name, target) in enumerate(found):
            connection: Optional[socket.socket] = None
            try:
                connection = socket.socket(family, kind, protocol)
                # A short share would end an attempt after one lost packet, but the next address gets at least half of the
                # remaining time.
                left, places = self.remaining(), len(found) - place
                share = left if places == 1 else max(min(3.0, left / 2), left / places)
                connection.settimeout(share)
                connection.connect(target)
                connection.settimeout(self.remaining())
                # Watched from here on: for HTTPS, a proxy responds before `HTTPSConnection.connect` returns.
                self.watch(connection)
                return connection
            except OSError as error:
                failure = error
                if connection is not None:
                    connection.close()
        raise failure

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
            # Call the plain socket's method: the TLS socket's own method would also discard TLS state that is in use.
            socket.socket.shutdown(self._socket, socket.SHUT_RDWR)
        except OSError:
            pass


def _opener(deadline: _Deadline) -> urllib.request.OpenerDirector:
    class Connection(http.client.HTTPConnection):
        def connect(self) -> None:
            self._create_connection = deadline.connect
            super().connect()
            deadline.watch(self.sock)

    class SecureConnection(http.client.HTTPSConnection):
        def connect(self) -> None:
            self._create_connection = deadline.connect
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
        # Python 3.10 and earlier do not follow 308, which is 307 for a GET request.
        http_error_308 = urllib.request.HTTPRedirectHandler.http_error_302

        def redirect_request(self, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            following = super().redirect_request(req, fp, 307 if code == 308 else code, msg, headers, newurl)
            # Replace `read`, because the base class would next read the whole body without a limit.
            fp.read = lambda *_: b""
            fp.length = 0
            return following

    # Install handlers for http and https only, so that a redirect to a file or to ftp is an error.
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
    """Returns the TLS context that all connections share: loading the system's certificates takes up to a second."""
    return ssl.create_default_context()


def _opened(opener: urllib.request.OpenerDirector, request: urllib.request.Request, timeout: float) -> Any:
    try:
        return opener.open(request, timeout=timeout)
    except urllib.error.HTTPError as response:
        # `urllib` raises for a status other than 2xx, but the client treats it as a response.
        return response


def _complete(response: Any, max_bytes: int) -> Response:
    body = response.read(max_bytes + 1)
    if len(body) > max_bytes:
        raise ResponseTooLarge(response.status)
    # `read` with a size does not report a body that is shorter than its Content-Length.
    if response.length:
        raise http.client.IncompleteRead(body)
    headers: Dict[str, str] = {}
    for name, value in response.headers.items():
        key = name.lower()
        # The values of a repeated header form one list, as in `fetch`.
        headers[key] = f"{headers[key]}, {value}" if key in headers else value
    return Response(response.status, headers, body)


def _is_timeout(error: BaseException) -> bool:
    reason = getattr(error, "reason", None)
    return isinstance(error, (TimeoutError, socket.timeout)) or isinstance(reason, (TimeoutError, socket.timeout))
