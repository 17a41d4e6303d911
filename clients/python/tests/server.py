"""A server on a free port whose responses each test chooses."""

import json
import socket
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread
from typing import Any, Callable, Dict, List, Optional
from unittest import TestCase

from almanac_client import FactsClient

#: Start time of the clients' clock in seconds since 1970. The clock advances only when a test advances it.
NOON = 1_795_176_000.0

INDEX = {"contract": "atproto.facts.instruments/v1", "retrieved_at": "2026-11-20T12:00:00.000Z", "instruments": []}
REFUSAL = {"error": {"status": 503, "code": "source_unavailable", "message": "None."}}


class Exchange:
    """One request of a client, and its response."""

    def __init__(self, handler: BaseHTTPRequestHandler, nth: int) -> None:
        self.handler = handler
        self.nth = nth
        self.headers = handler.headers

    def give(self, status: int, body: Any, headers: Optional[Dict[str, str]] = None) -> None:
        data = body if isinstance(body, bytes) else (body if isinstance(body, str) else json.dumps(body)).encode()
        self.handler.send_response(status)
        for name, value in (headers or {}).items():
            self.handler.send_header(name, value)
        if status != 304 and "Content-Length" not in (headers or {}):
            self.handler.send_header("Content-Length", str(len(data)))
        self.handler.end_headers()
        self.handler.wfile.write(data)

    def raw(self, data: bytes) -> None:
        self.handler.wfile.write(data)

    def wait_for_the_client_to_leave(self) -> None:
        connection: socket.socket = self.handler.connection
        while connection.recv(4096):
            pass


class Scene:
    """A client of a server whose responses a test chooses, with a clock that the test controls."""

    def __init__(self, case: TestCase, answer: Callable[[Exchange], None], **options: Any) -> None:
        self.requests: List[Dict[str, str]] = []
        self.now = NOON
        scene = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                scene.requests.append({name.lower(): value for name, value in self.headers.items()})
                answer(Exchange(self, len(scene.requests)))

            def log_message(self, format: str, *args: Any) -> None:
                pass

        server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        server.daemon_threads = True
        Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True).start()
        case.addCleanup(server.server_close)
        case.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        self.client = FactsClient(self.url, now=lambda: self.now, **options)
