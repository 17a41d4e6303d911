"""Tests of the client against caches that serve expired responses, and with clocks that are wrong."""

import json
from datetime import datetime, timezone
from email.utils import format_datetime
from typing import Any, Dict, List, Mapping, Optional, Tuple
from unittest import TestCase
from unittest.mock import patch

from almanac_client import ClientError, FactsClient, FactsError, Response, StaleCacheError, current_age, weather_currency

NOON = 1_795_176_000.0
DAY = 86_400.0


def timestamp(at: float) -> str:
    return datetime.fromtimestamp(at, timezone.utc).strftime("%Y-%m-%dT%H:%M:%S.000Z")


def http_date(at: float) -> str:
    return format_datetime(datetime.fromtimestamp(at, timezone.utc), usegmt=True)


class Scene:
    """A service with its clock at ``service``, and a client with its clock at ``now``."""

    def __init__(self, ahead: float = 0) -> None:
        self.service, self.now = NOON, NOON + ahead
        self.response: Optional[Response] = None
        self.client = FactsClient("http://a.example", transport=self.transport, now=lambda: self.now)

    def transport(self, url: str, headers: Mapping[str, str], timeout: float, max_bytes: int) -> Response:
        assert self.response is not None
        return self.response

    def advance(self, seconds: float) -> None:
        self.service += seconds
        self.now += seconds

    def serve(self, age: float = 0, collection_age: float = 0, control: str = "public, max-age=60") -> None:
        """Serves a fact that the service builds now."""
        freshness = {
            "state": "fresh",
            "max_age_seconds": 7200,
            "collection_age_seconds": collection_age,
            "collection_max_age_seconds": 7200,
        }
        body: Dict[str, Any] = {
            "contract": "atproto.facts.labels.overview/v1",
            "generated_at": timestamp(self.service - age),
            "retrieved_at": timestamp(self.service),
            "age_seconds": age,
            "freshness": freshness,
        }
        headers = {"cache-control": control, "date": http_date(self.service), "etag": 'W/"a"'}
        self.response = Response(200, headers, json.dumps(body).encode())

    def refuse(self, age: Optional[str] = None) -> None:
        body = {"error": {"status": 503, "code": "source_held", "message": "Held."}}
        headers = {"cache-control": "no-store", "date": http_date(self.service)}
        if age is not None:
            headers["age"] = age
        self.response = Response(503, headers, json.dumps(body).encode())

    def outcome(self) -> Tuple[str, Optional[int]]:
        try:
            return self.client.labels_overview().via, None
        except StaleCacheError as error:
            return error.staleness.reason, error.staleness.clock_ahead_seconds
        except FactsError as error:
            return error.code, None


class Delivered(TestCase):
    def test_weather_is_as_old_as_a_cache_with_a_longer_lifetime_delivers_it(self) -> None:
        freshness = {"state": "current", "age_seconds": 5, "max_age_seconds": 180}
        contract = "atproto.facts.weather.metrics/v1"
        body = {"contract": contract, "retrieved_at": timestamp(NOON), "age_seconds": 5, "freshness": freshness}
        for currency, age, control, delivery in (
            ("old", 545, "max-age=600", 540),
            ("old", 665, "max-age=600", 719),
            ("current", 125, "max-age=60", 179),
            ("current", 105, "no-store", 100),
        ):
            with self.subTest(control=control, delivery=delivery):
                scene = Scene()
                scene.response = Response(200, {"cache-control": control}, json.dumps(body).encode())
                scene.advance(delivery)
                reading = scene.client.weather_metrics()
                self.assertEqual((currency, age), (weather_currency(reading, scene.now), current_age(reading, scene.now)))


class Cached(TestCase):
    def test_a_response_is_rejected_once_it_is_older_than_caches_may_keep_it(self) -> None:
        for control, limit in (("public, max-age=60", 180), ("max-age=60, s-maxage=300", 420), ("no-store", 120), ("", 180)):
            with self.subTest(control):
                scene = Scene()
                scene.serve(control=control)
                scene.advance(limit)
                self.assertEqual("fetched", scene.outcome()[0])
                scene.advance(1)
                self.assertEqual("expired", FactsOnce(scene).outcome()[0])

    def test_a_response_is_rejected_once_its_artifact_or_its_collection_is_older_than_its_bound(self) -> None:
        for ages in ({"age": 7140.0}, {"collection_age": 7140.0}):
            with self.subTest(ages):
                scene = Scene()
                scene.serve(**ages)
                scene.advance(120)
                self.assertEqual("fetched", scene.outcome()[0])
                scene.advance(1)
                self.assertEqual("older_than_bound", scene.outcome()[0])

    def test_a_304_does_not_confirm_an_expired_reading(self) -> None:
        scene = Scene()
        scene.serve()
        self.assertEqual("fetched", scene.outcome()[0])
        old = scene.response
        assert old is not None
        scene.response = Response(304, old.headers, b"")
        scene.advance(180)
        self.assertEqual("revalidated", scene.outcome()[0])
        scene.advance(61)
        self.assertEqual("expired", scene.outcome()[0])
        scene.response = old
        self.assertEqual("expired", scene.outcome()[0])

    def test_a_response_from_before_a_refusal_is_rejected_at_any_age(self) -> None:
        # Varnish and Fastly state the age 0 in every response, also in those that they do not store.
        for age in (None, "0"):
            with self.subTest(age):
                scene = Scene()
                scene.serve()
                self.assertEqual("fetched", scene.outcome()[0])
                old = scene.response
                scene.advance(60)
                scene.refuse(age)
                self.assertEqual("source_held", scene.outcome()[0])
                scene.response = old
                self.assertEqual("refused_since", scene.outcome()[0])
                scene.serve()
                self.assertEqual("fetched", scene.outcome()[0])

    def test_the_error_names_its_kind_the_remedy_and_the_clock(self) -> None:
        scene = Scene()
        scene.serve()
        scene.advance(3600)
        with self.assertRaises(ClientError) as raised:
            scene.client.labels_overview()
        self.assertEqual("served_by_stale_cache", getattr(raised.exception, "code"))
        for words in ("built 3600 s ago", "proxy_cache_use_stale off", "3600 s ahead of the service's: correct it"):
            self.assertIn(words, str(raised.exception))


class WrongClock(TestCase):
    def test_a_clock_that_is_ahead_is_reported_with_its_difference_until_a_refusal_states_the_time(self) -> None:
        scene = Scene(ahead=600)
        scene.serve()
        self.assertEqual(("expired", 600), scene.outcome())
        scene.refuse()
        self.assertEqual("source_held", scene.outcome()[0])
        scene.advance(60)
        scene.serve()
        self.assertEqual("fetched", scene.outcome()[0])
        scene.advance(181)
        self.assertEqual(("expired", 600), scene.outcome())

    def test_a_clock_that_is_behind_does_not_hide_the_age_of_a_response(self) -> None:
        scene = Scene(ahead=-3600)
        scene.serve()
        self.assertEqual("fetched", scene.outcome()[0])
        scene.advance(181)
        self.assertEqual(("expired", None), scene.outcome())
        scene.serve()
        self.assertEqual("fetched", scene.outcome()[0])

    def test_a_clock_that_is_set_back_does_not_make_a_kept_response_new(self) -> None:
        scene = Scene()
        with patch("time.monotonic", lambda: ticks):
            ticks = 0.0
            scene.serve()
            self.assertEqual("fetched", scene.outcome()[0])
            scene.refuse()
            scene.advance(30)
            ticks = 59.999
            self.assertEqual("kept", scene.outcome()[0])
            # An hour has passed, and the clock shows half a minute.
            ticks = 3600.0
            self.assertEqual("source_held", scene.outcome()[0])

    def test_a_clock_that_is_corrected_does_not_make_new_responses_old(self) -> None:
        scene = Scene(ahead=-3600)
        scene.serve()
        self.assertEqual("fetched", scene.outcome()[0])
        scene.now += 3600
        scene.advance(61)
        scene.serve()
        self.assertEqual("fetched", scene.outcome()[0])


class SetBack(TestCase):
    """The service's clock was a day ahead, and is set back."""

    def corrected(self, scene: Scene) -> List[str]:
        """Receives a response a minute from the corrected service."""
        outcomes = []
        for minute in range(5):
            scene.advance(60 if minute else 0)
            scene.serve(control="max-age=60")
            outcomes.append(scene.outcome()[0])
        return outcomes

    def test_is_detected_within_minutes_after_a_response_that_it_dated(self) -> None:
        scene = Scene()
        scene.service += DAY
        scene.serve()
        self.assertEqual("fetched", scene.outcome()[0])
        scene.service -= DAY
        scene.advance(180)
        stale = "older_than_bound"
        self.assertEqual(["kept_newer", stale, stale, "fetched", "fetched"], self.corrected(scene))

    def test_is_detected_within_minutes_after_a_refusal_that_it_dated(self) -> None:
        scene = Scene()
        scene.service += DAY
        scene.refuse()
        self.assertEqual("source_held", scene.outcome()[0])
        scene.service -= DAY
        scene.advance(60)
        stale = "refused_since"
        self.assertEqual([stale, stale, stale, "fetched", "fetched"], self.corrected(scene))

    def test_is_not_assumed_because_a_cache_repeats_one_response(self) -> None:
        scene = Scene(ahead=-DAY)
        scene.serve()
        self.assertEqual("fetched", scene.outcome()[0])
        scene.advance(DAY)
        # This client's clock is a day behind, so a response of yesterday agrees with it.
        for _ in range(10):
            scene.advance(60)
            self.assertEqual("older_than_bound", scene.outcome()[0])

    def test_does_not_make_responses_current_that_a_cache_has_kept_since(self) -> None:
        scene = Scene()
        scene.service += DAY
        scene.serve(control="max-age=60")
        received = scene.response
        self.assertEqual("fetched", scene.outcome()[0])
        scene.advance(30)
        # Another client has received this response.
        scene.serve()
        other = scene.response
        scene.service -= DAY
        scene.advance(30)
        self.assertIn("fetched", self.corrected(scene))
        for seconds in (60, 3600, DAY - 3600 - 400):
            scene.advance(seconds)
            for kept in (received, other, received):
                scene.response = kept
                self.assertIn(scene.outcome()[0], ("expired", "older_than_bound"))
            scene.serve()
            self.assertEqual("fetched", scene.outcome()[0])
        # The service's clock reaches the time of the response a second time.
        for _ in range(10):
            scene.advance(60)
            scene.response = received
            self.assertIn(scene.outcome()[0], ("expired", "older_than_bound"))


class FactsOnce:
    """A client that starts at the time of a scene and receives its response."""

    def __init__(self, scene: Scene) -> None:
        self.scene = scene
        self.client = FactsClient("http://a.example", transport=scene.transport, now=lambda: scene.now)

    def outcome(self) -> List[str]:
        try:
            return [self.client.labels_overview().via]
        except StaleCacheError as error:
            return [error.staleness.reason]
