"""Tests of the client against redirects, servers and proxies that never complete a connection, and forks."""

import json
import os
import signal
import socket
import urllib.error
import warnings
from threading import Event, Thread
from typing import Any, List, Mapping
from unittest import TestCase, skipUnless
from unittest.mock import patch
from urllib.request import HTTPRedirectHandler

from almanac_client import FactsClient, NetworkError, Response

from .server import INDEX, NOON, Exchange, Scene

#: A server sends this number of pieces, unless its client leaves earlier.
PIECES = 3_000


class Redirect(TestCase):
    def test_is_followed_although_the_library_does_not_know_its_status(self) -> None:
        known = HTTPRedirectHandler.redirect_request

        def of_python_3_10(self: Any, req: Any, fp: Any, code: int, msg: str, headers: Any, newurl: str) -> Any:
            if code == 308:
                raise urllib.error.HTTPError(req.full_url, code, msg, headers, fp)
            return known(self, req, fp, code, msg, headers, newurl)

        if hasattr(HTTPRedirectHandler, "http_error_308"):
            self.addCleanup(setattr, HTTPRedirectHandler, "http_error_308", HTTPRedirectHandler.http_error_302)
            del HTTPRedirectHandler.http_error_308
        for status in (301, 302, 303, 307, 308):
            with self.subTest(status), patch.object(HTTPRedirectHandler, "redirect_request", of_python_3_10):

                def move(exchange: Exchange) -> None:
                    if exchange.nth == 1:
                        exchange.give(status, "", {"Location": "/elsewhere"})
                    else:
                        exchange.give(200, INDEX)

                scene = Scene(self, move)
                self.assertEqual(INDEX, scene.client.instruments().value)
                self.assertEqual(2, len(scene.requests))


class Dripping:
    """A server that sends a beginning, and then one byte after another, and records whether its client leaves."""

    def __init__(self, case: TestCase, beginning: bytes) -> None:
        self.left: List[bool] = []
        listener = socket.create_server(("127.0.0.1", 0))
        case.addCleanup(listener.close)
        still = Event()
        case.addCleanup(still.set)

        def serve() -> None:
            connection, _ = listener.accept()
            with connection:
                try:
                    connection.recv(4096)
                    connection.sendall(beginning)
                    for _ in range(PIECES):
                        connection.sendall(b"x")
                        still.wait(0.01)
                    self.left.append(False)
                except OSError:
                    self.left.append(True)

        self.thread = Thread(target=serve, daemon=True)
        self.thread.start()
        self.address = f"127.0.0.1:{listener.getsockname()[1]}"


class Connection(TestCase):
    def test_that_is_not_complete_in_time_is_a_network_error_at_the_timeout(self) -> None:
        proxy = Dripping(self, b"HTTP/1.1 200 OK\r\nA: ")
        tls = Dripping(self, b"\x16\x03\x03\x40\x00")
        for name, server, base, proxies in (
            ("a proxy", proxy, "https://facts.example", {"https_proxy": f"http://{proxy.address}", "no_proxy": ""}),
            ("a TLS handshake", tls, f"https://{tls.address}", {"no_proxy": "127.0.0.1"}),
        ):
            with self.subTest(name), patch.dict(os.environ, proxies):
                with self.assertRaises(NetworkError) as missing:
                    FactsClient(base, timeout=0.2).instruments()
                server.thread.join(60)
                self.assertEqual(("timeout", [True]), (missing.exception.reason, server.left))


@skipUnless(hasattr(os, "fork"), "this system has no fork")
class Fork(TestCase):
    def test_a_forked_process_does_not_wait_for_a_request_of_its_parent(self) -> None:
        requested, released = Event(), Event()
        parent = os.getpid()

        def transport(url: str, headers: Mapping[str, str], timeout: float, max_bytes: int) -> Response:
            if os.getpid() == parent:
                requested.set()
                released.wait()
            return Response(200, {}, json.dumps(INDEX).encode())

        client = FactsClient("http://a.example", transport=transport, now=lambda: NOON)
        asking = Thread(target=client.instruments, daemon=True)
        asking.start()
        self.assertTrue(requested.wait(60))
        self.addCleanup(asking.join)
        self.addCleanup(released.set)
        with warnings.catch_warnings():
            # Python 3.12 and later warn about a fork while threads run.
            warnings.simplefilter("ignore", DeprecationWarning)
            child = os.fork()
        if child == 0:
            # SIGALRM ends a child that waits.
            signal.alarm(60)
            code = 1
            try:
                code = 0 if client.instruments().via == "fetched" else 1
            finally:
                os._exit(code)
        self.assertEqual(0, os.waitpid(child, 0)[1])
