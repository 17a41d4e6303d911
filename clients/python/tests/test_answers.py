"""Tests of the client against responses of proxies, caches and servers that hang."""

import copy
import json
import pickle
import socket
from datetime import datetime, timezone
from email.utils import format_datetime
from threading import Event, Thread, current_thread
from typing import Any, List, Mapping, cast
from unittest import TestCase
from unittest.mock import patch

from almanac_client import (
    AnswerError,
    ClientError,
    FactsClient,
    FactsError,
    NetworkError,
    Reading,
    Response,
    StaleCacheError,
    Staleness,
    current_age,
    weather_currency,
)
from almanac_client.schemas import LabelFreshness

from .server import INDEX, NOON, REFUSAL, Exchange, Scene


class RetryAfter(TestCase):
    def test_the_fact_stays_refused_without_a_request_until_that_time(self) -> None:
        date = format_datetime(datetime.fromtimestamp(NOON + 30, timezone.utc), usegmt=True)
        for header in ("30", date):
            with self.subTest(header):
                scene = Scene(
                    self,
                    lambda e: e.give(503, REFUSAL, {"Retry-After": header}) if e.nth == 1 else e.give(200, INDEX),
                )
                with self.assertRaises(FactsError) as first:
                    scene.client.instruments()
                self.assertEqual(("source_unavailable", 30), (first.exception.code, first.exception.retry_after_seconds))
                scene.now += 29
                with self.assertRaises(FactsError) as second:
                    scene.client.instruments()
                self.assertIs(first.exception, second.exception)
                self.assertEqual(1, len(scene.requests))
                scene.now += 2
                self.assertEqual(INDEX, scene.client.instruments().value)

    def test_of_a_proxy_is_respected_for_at_most_an_hour(self) -> None:
        scene = Scene(
            self,
            lambda e: e.give(429, "slow down", {"Retry-After": "999999"})
            if e.nth == 1
            else e.give(200, {**INDEX, "retrieved_at": "2026-11-20T13:00:01.000Z"}),
        )
        for advance in (0, 3599):
            scene.now += advance
            with self.assertRaises(AnswerError) as refused:
                scene.client.instruments()
            self.assertEqual((429, 3600), (refused.exception.status, refused.exception.retry_after_seconds))
        self.assertEqual(1, len(scene.requests))
        scene.now += 2
        scene.client.instruments()


class Refusal(TestCase):
    def test_drops_the_cached_reading_so_that_the_next_request_is_unconditional(self) -> None:
        def answer(exchange: Exchange) -> None:
            if exchange.nth == 2:
                exchange.give(503, REFUSAL)
            else:
                exchange.give(200, INDEX, {"ETag": 'W/"a"'})

        scene = Scene(self, answer)
        scene.client.instruments()
        with self.assertRaises(FactsError):
            scene.client.instruments()
        self.assertEqual("fetched", scene.client.instruments().via)
        self.assertEqual([None, 'W/"a"', None], [request.get("if-none-match") for request in scene.requests])


class MaxAge(TestCase):
    def test_prevents_requests_until_it_is_over(self) -> None:
        for control, age, seconds in (
            ("max-age=60", None, 60),
            ("public, MAX-AGE=60", "45", 15),
            ("max-age=60", "61", 0),
            ("no-store, max-age=60", None, 0),
            ("no-cache", None, 0),
            ("max-age=99999999", None, 3600),
            ("max-age=-5", None, 0),
            ("max-age=soon", None, 0),
            (None, None, 0),
        ):
            with self.subTest(f"{control}, {age}"):
                headers = {name: value for name, value in (("Cache-Control", control), ("Age", age)) if value}
                scene = Scene(self, lambda e: e.give(200, INDEX, headers))
                scene.client.instruments()
                if seconds:
                    scene.now += seconds - 1
                    self.assertEqual("kept", scene.client.instruments().via)
                    self.assertEqual(1, len(scene.requests))
                    scene.now += 1
                scene.client.instruments()
                self.assertEqual(2, len(scene.requests))

    def test_counts_every_line_of_a_repeated_header(self) -> None:
        body = json.dumps(INDEX).encode()
        for lines in (("no-store", "max-age=3600"), ("max-age=3600", "no-store")):
            with self.subTest(lines):
                controls = "".join(f"Cache-Control: {line}\r\n" for line in lines)
                head = f"HTTP/1.1 200 OK\r\n{controls}Content-Length: {len(body)}\r\n\r\n"
                scene = Scene(self, lambda e: e.raw(head.encode() + body))
                for _ in range(2):
                    self.assertEqual("fetched", scene.client.instruments().via)
                self.assertEqual(2, len(scene.requests))


class OutsideTheContract(TestCase):
    def test_a_response_is_an_answer_error(self) -> None:
        for status, body, why in (
            (502, "<h1>Bad gateway</h1>", "the response is not from this service"),
            (500, {"error": "no"}, "the response is not from this service"),
            (200, '{"contract":', "the response is not a JSON object"),
            (200, [], "the response is not a JSON object"),
            (200, '{"contract": NaN}', "the response is not a JSON object"),
            (200, "[" * 200_000, "the response is not a JSON object"),
            (200, '{"contract": ' + "9" * 1_000_000 + "}", "the response is not a JSON object"),
            (200, {"contract": "x/v2"}, "the response does not conform to atproto.facts.instruments/v1"),
            (200, b'"\xff"', "the response is not UTF-8"),
            (304, "", "the response is not from this service"),
        ):
            with self.subTest(f"{status} {str(body)[:40]}"):
                scene = Scene(self, lambda e: e.give(status, body))
                with self.assertRaises(AnswerError) as refused:
                    scene.client.instruments()
                self.assertEqual(f"/v1/instruments: {why} (status {status})", str(refused.exception))
                self.assertEqual(status, refused.exception.status)

    def test_a_response_is_read_only_up_to_the_size_limit(self) -> None:
        def flood(exchange: Exchange) -> None:
            exchange.raw(b"HTTP/1.0 200 OK\r\n\r\n")
            try:
                while True:
                    exchange.raw(b"x" * 65_536)
            except OSError:
                pass

        scene = Scene(self, flood, max_bytes=1000)
        with self.assertRaisesRegex(AnswerError, r"larger than 1000 bytes \(status 200\)"):
            scene.client.instruments()

    def test_the_body_of_a_redirect_is_not_read(self) -> None:
        for framing, piece in (
            (b"", b"x" * 65_536),
            (b"Transfer-Encoding: chunked\r\n", b"10000\r\n" + b"x" * 65_536 + b"\r\n"),
        ):
            with self.subTest(framing):

                def flood(exchange: Exchange) -> None:
                    if exchange.nth > 1:
                        return exchange.give(200, INDEX)
                    exchange.raw(b"HTTP/1.1 302 Found\r\nLocation: /elsewhere\r\n" + framing + b"\r\n")
                    try:
                        while True:
                            exchange.raw(piece)
                    except OSError:
                        pass

                scene = Scene(self, flood, timeout=3.0)
                self.assertEqual(INDEX, scene.client.instruments().value)
                self.assertEqual(2, len(scene.requests))

    def test_an_endless_redirect_is_an_answer_error(self) -> None:
        scene = Scene(self, lambda e: e.give(302, "elsewhere", {"Location": f"{scene.url}/v1/instruments"}))
        with self.assertRaisesRegex(AnswerError, r"not from this service \(status 302\)"):
            scene.client.instruments()

    def test_an_older_reading_whose_fields_have_other_types_does_not_replace_the_newer_one(self) -> None:
        for fields in (
            {"provenance": "x"},
            {"provenance": [1]},
            {"facts": "x"},
            {"facts": {"acquisition": "x"}},
            {"age_seconds": "x"},
        ):
            with self.subTest(fields):
                first = {**INDEX, **fields, "generated_at": "2026-11-20T12:00:00Z"}
                older = {**first, "generated_at": "2026-11-20T11:00:00Z"}
                scene = Scene(self, lambda e: e.give(200, first if e.nth == 1 else older))
                scene.client.instruments()
                self.assertEqual("kept_newer", scene.client.instruments().via)

    def test_a_validator_that_is_too_long_for_a_request_header_is_not_sent_back(self) -> None:
        scene = Scene(self, lambda e: e.give(200, INDEX, {"ETag": f'"{"a" * 2_000}"' if e.nth == 1 else '"b"'}))
        for _ in range(3):
            scene.client.instruments()
        self.assertEqual([None, None, '"b"'], [request.get("if-none-match") for request in scene.requests])

    def test_a_response_does_not_discard_the_cached_reading(self) -> None:
        def answer(exchange: Exchange) -> None:
            if exchange.nth == 1:
                exchange.give(200, INDEX, {"ETag": 'W/"a"'})
            elif exchange.nth == 2:
                exchange.give(502, "")
            else:
                exchange.give(304 if exchange.headers["If-None-Match"] == 'W/"a"' else 500, "")

        scene = Scene(self, answer)
        scene.client.instruments()
        with self.assertRaises(AnswerError):
            scene.client.instruments()
        self.assertEqual("revalidated", scene.client.instruments().via)
        self.assertEqual([None, 'W/"a"', 'W/"a"'], [request.get("if-none-match") for request in scene.requests])

    def test_a_redirect_to_a_file_is_not_followed(self) -> None:
        scene = Scene(self, lambda e: e.give(302, "", {"Location": "file:///etc/hostname"}))
        with self.assertRaises((AnswerError, NetworkError)):
            scene.client.instruments()


class Missing(TestCase):
    def test_a_response_is_a_network_error_after_the_timeout(self) -> None:
        def drip(exchange: Exchange) -> None:
            exchange.raw(b"HTTP/1.0 200 OK\r\n\r\n")
            try:
                while True:
                    exchange.raw(b" ")
                    still.wait(0.01)
            except OSError:
                pass

        still = Event()
        self.addCleanup(still.set)
        def begin_headers(exchange: Exchange) -> None:
            exchange.raw(b"HTTP/1.0 200 OK\r\nA: ")
            exchange.wait_for_the_client_to_leave()

        for name, answer in (
            ("no byte", Exchange.wait_for_the_client_to_leave),
            ("headers without an end", begin_headers),
            ("a body without an end", drip),
        ):
            with self.subTest(name):
                scene = Scene(self, answer, timeout=0.2)
                with self.assertRaises(NetworkError) as missing:
                    scene.client.instruments()
                self.assertEqual("timeout", missing.exception.reason)

    def test_the_timeout_is_shared_by_all_addresses_of_a_host(self) -> None:
        clock = 0.0
        timeouts: List[Any] = []

        def connect(connection: socket.socket, address: Any) -> None:
            nonlocal clock
            timeouts.append((address[0], connection.gettimeout()))
            clock += connection.gettimeout() or 0.0
            raise socket.timeout("timed out")

        found = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (f"192.0.2.{last}", 80)) for last in (1, 2, 3)]
        with patch.object(socket.socket, "connect", connect), patch("time.monotonic", lambda: clock):
            with patch("socket.getaddrinfo", lambda *_, **__: found), self.assertRaises(NetworkError) as missing:
                FactsClient("http://a.example", timeout=30.0).instruments()
        self.assertEqual("timeout", missing.exception.reason)
        self.assertEqual([("192.0.2.1", 10.0), ("192.0.2.2", 10.0), ("192.0.2.3", 10.0)], timeouts)

    def test_another_address_of_a_host_is_tried_if_one_does_not_respond(self) -> None:
        scene = Scene(self, lambda e: e.give(200, INDEX))
        port = int(scene.url.rsplit(":", 1)[1])
        # A socket of another family cannot connect to an address of IPv4.
        found = [(family, socket.SOCK_STREAM, 6, "", ("127.0.0.1", port)) for family in (socket.AF_INET6, socket.AF_INET)]
        with patch("socket.getaddrinfo", lambda *_, **__: found):
            self.assertEqual(INDEX, FactsClient(f"http://a.example:{port}", now=lambda: NOON).instruments().value)

    def test_a_response_that_breaks_off_is_a_network_error(self) -> None:
        for headers in ({"Content-Length": "100"}, {"Transfer-Encoding": "chunked", "Content-Length": "5"}):
            with self.subTest(headers):
                scene = Scene(self, lambda e: e.give(200, "{", headers))
                with self.assertRaises(NetworkError) as missing:
                    scene.client.instruments()
                self.assertEqual(("unreachable", "/v1/instruments"), (missing.exception.reason, missing.exception.path))


def at(seconds: float) -> str:
    return datetime.fromtimestamp(NOON + seconds, timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")


class Currency(TestCase):
    def test_of_a_weather_fact_adds_the_time_since_the_artifact_to_the_age_that_it_states(self) -> None:
        fresh = {"state": "current", "age_seconds": 60, "max_age_seconds": 180}
        for expected, elapsed, age, freshness, retrieved in (
            ("current", 20, 100, fresh, at(0)),
            ("old", 20.5, 100, fresh, at(0)),
            ("current", -500, 120, fresh, at(0)),
            ("partial", 0, 0, {**fresh, "state": "partial"}, at(0)),
            ("old", 0, 0, {**fresh, "state": "stale"}, at(0)),
            ("unavailable", 0, 0, {**fresh, "state": "unavailable"}, at(0)),
            ("not_said", 0, None, fresh, at(0)),
            ("current", 0, -300, fresh, at(0)),
            ("not_said", 3600, -300.5, fresh, at(0)),
            ("not_said", 0, 0, {**fresh, "age_seconds": -301}, at(0)),
            ("old", 0, -301, {**fresh, "state": "stale"}, at(0)),
            ("not_said", 0, 0, {**fresh, "age_seconds": None}, at(0)),
            ("not_said", 0, 0, {**fresh, "max_age_seconds": None}, at(0)),
            ("current", 0, 30, fresh, at(-90)),
            ("old", 0, 31, fresh, at(-90)),
            ("current", 0, 0, fresh, at(-3600)),
            ("current", 0, 120, fresh, at(3600)),
            ("current", 0, 120, fresh, "yesterday"),
        ):
            with self.subTest(expected=expected, elapsed=elapsed, age=age, freshness=freshness, retrieved=retrieved):
                value = {"retrieved_at": retrieved, "age_seconds": age, "freshness": freshness}
                reading: Reading[Any] = Reading(value, "fetched", NOON, NOON)
                self.assertEqual(expected, weather_currency(reading, NOON + elapsed))

    def test_current_age_adds_the_time_since_the_response_was_built(self) -> None:
        for expected, elapsed, age, retrieved in (
            (130, 20, 100, at(-10)),
            (100, -500, 100, at(0)),
            (220, 0, 100, at(-3600)),
            (100, 0, 100, at(3600)),
            (101, 1, 100, "yesterday"),
            (-2, 3, -5, at(0)),
            (None, 20, None, at(0)),
        ):
            with self.subTest(expected=expected, elapsed=elapsed, age=age, retrieved=retrieved):
                reading: Reading[Any] = Reading({"retrieved_at": retrieved, "age_seconds": age}, "fetched", NOON, NOON)
                self.assertEqual(expected, current_age(reading, NOON + elapsed))
        index: Reading[Any] = Reading({"retrieved_at": at(0)}, "fetched", NOON, NOON)
        self.assertIsNone(current_age(index, NOON))

    def test_changes_although_the_clock_of_the_client_is_set_back(self) -> None:
        freshness = {"state": "current", "age_seconds": 5, "max_age_seconds": 180}
        contract = "atproto.facts.weather.metrics/v1"
        body = {"contract": contract, "retrieved_at": at(0), "age_seconds": 5, "freshness": freshness}
        response = Response(200, {}, json.dumps(body).encode())
        with patch("time.monotonic", lambda: 1_000.0):
            reading = FactsClient("http://a.example", now=lambda: NOON, transport=lambda *_: response).weather_metrics()
        with patch("time.monotonic", lambda: 2_800.0), patch("time.time", lambda: NOON - 1_800):
            self.assertEqual(("old", 1_805), (weather_currency(reading), current_age(reading)))
        with patch("time.monotonic", lambda: 2_800.0), patch("time.time", lambda: NOON + 170):
            self.assertEqual(("current", 175), (weather_currency(reading, NOON + 170), current_age(reading, NOON + 170)))
            # The monotonic clock of another machine has another origin.
            restored = pickle.loads(pickle.dumps(reading))
            self.assertEqual(reading, restored)
            self.assertEqual(("current", 175), (weather_currency(restored), current_age(restored)))


class Errors(TestCase):
    def test_can_be_sent_to_another_process_and_copied(self) -> None:
        staleness = Staleness("expired", 3600, 120, "client", None)
        errors: List[ClientError] = [
            FactsError("/v1/instruments", 503, "source_held", "Held.", cast(LabelFreshness, {"state": "held"}), 30),
            NetworkError("/v1/instruments", "timeout"),
            AnswerError("/v1/instruments", 502, "the response is not from this service", 5),
            StaleCacheError("/v1/instruments", staleness),
        ]
        for error in errors:
            for restored in (pickle.loads(pickle.dumps(error)), copy.copy(error), copy.deepcopy(error)):
                with self.subTest(error=error):
                    self.assertIs(type(error), type(restored))
                    self.assertEqual((str(error), error.args, vars(error)), (str(restored), restored.args, vars(restored)))


class Threads(TestCase):
    def test_share_one_request(self) -> None:
        readings: List[Reading[Any]] = []
        second_has_come = Event()
        requests: List[str] = []

        def now() -> float:
            if current_thread() is second:
                second_has_come.set()
            return NOON

        def transport(url: str, headers: Mapping[str, str], timeout: float, max_bytes: int) -> Response:
            requests.append(url)
            if len(requests) == 1:
                second.start()
                self.assertTrue(second_has_come.wait(60))
            return Response(200, {}, json.dumps(INDEX).encode())

        client = FactsClient("http://a.example", transport=transport, now=now)
        second = Thread(target=lambda: readings.append(client.instruments()))
        readings.append(client.instruments())
        second.join()
        self.assertEqual(["http://a.example/v1/instruments"], requests)
        self.assertEqual(["fetched", "fetched"], [reading.via for reading in readings])


class Base(TestCase):
    def test_an_address_that_is_not_http_is_rejected(self) -> None:
        for base in ("ftp://a.example", "http://user:secret@a.example", "no address", "http://"):
            with self.subTest(base), self.assertRaises(ValueError):
                FactsClient(base)
