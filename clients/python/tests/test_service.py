"""Tests of the client against a running service, whose address and artifact directory the environment names."""

import json
import os
import re
import typing
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any, Dict, Mapping
from unittest import TestCase, skipUnless

import almanac_client
from almanac_client import FactsClient, FactsError, Response, schemas
from almanac_client.exchange import send

URL = os.environ.get("ALMANAC_URL")
ARTIFACTS = Path(os.environ.get("ALMANAC_ARTIFACTS", "."))


def timestamp(offset_seconds: float) -> str:
    at = datetime.now(timezone.utc) + timedelta(seconds=offset_seconds)
    return at.strftime("%Y-%m-%dT%H:%M:%S.000Z")


@skipUnless(URL, "ALMANAC_URL names no service")
class Service(TestCase):
    def setUp(self) -> None:
        self.now = datetime.now(timezone.utc).timestamp()
        begun = self.now

        def later(url: str, headers: Mapping[str, str], timeout: float, max_bytes: int) -> Response:
            """Advances the service's clock with the client's: otherwise its responses would be as old as a cache's."""
            response = send(url, headers, timeout, max_bytes)
            at = (datetime.now(timezone.utc) + timedelta(seconds=self.now - begun)).strftime("%Y-%m-%dT%H:%M:%S.000Z")
            body = re.sub(rb'("retrieved_at":")[^"]+', lambda found: found.group(1) + at.encode(), response.body)
            kept = {name: value for name, value in response.headers.items() if name != "date"}
            return Response(response.status, kept, body)

        self.client = FactsClient(str(URL), transport=later, now=lambda: self.now)
        self.overview = ARTIFACTS / "labels-overview.json"
        original = self.overview.read_bytes()
        self.addCleanup(self.overview.write_bytes, original)

    def change(self, **fields: Any) -> None:
        """Replaces top-level fields of the label artifact."""
        artifact: Dict[str, Any] = json.loads(self.overview.read_text("utf-8"))
        replacement = self.overview.with_suffix(".new")
        replacement.write_text(json.dumps({**artifact, **fields}), "utf-8")
        replacement.replace(self.overview)

    def test_each_fact_is_returned(self) -> None:
        for ask, contract in (
            (self.client.instruments, "atproto.facts.instruments/v1"),
            (self.client.labels_overview, "atproto.facts.labels.overview/v1"),
            (self.client.weather_conditions, "atproto.facts.weather.conditions/v1"),
            (self.client.weather_metrics, "atproto.facts.weather.metrics/v1"),
        ):
            reading: Any = ask()
            self.assertEqual((contract, "fetched"), (reading.value["contract"], reading.via))

    def test_a_reading_is_kept_within_max_age_and_then_revalidated(self) -> None:
        first = self.client.labels_overview()
        self.now += 59.9
        self.assertEqual("kept", self.client.labels_overview().via)
        self.now += 0.1
        revalidated = self.client.labels_overview()
        self.assertEqual("revalidated", revalidated.via)
        self.assertIs(first.value, revalidated.value)
        self.assertEqual(first.received_at, revalidated.received_at)
        self.assertAlmostEqual(60, revalidated.confirmed_at - first.confirmed_at, 3)

    def test_the_service_is_asked_again_if_the_clock_was_set_back(self) -> None:
        self.client.labels_overview()
        self.now -= 1
        self.assertEqual("revalidated", self.client.labels_overview().via)

    def test_a_refusal_is_raised_with_its_freshness_and_never_replaced_by_the_earlier_reading(self) -> None:
        self.client.labels_overview()
        self.change(hold=True)
        self.now += 60
        for _ in range(2):
            with self.assertRaises(FactsError) as refused:
                self.client.labels_overview()
            error = refused.exception
            self.assertEqual((503, "source_held", "/v1/labels/overview"), (error.status, error.code, error.path))
            self.assertEqual("held", error.freshness and error.freshness["state"])
        self.change(hold=False)
        self.assertEqual("fetched", self.client.labels_overview().via)

    def test_a_newer_reading_is_kept_while_it_is_valid_when_the_service_sends_an_older_one(self) -> None:
        first = self.client.labels_overview()
        older = timestamp(-300)
        self.change(generated_at=older)
        self.now += 60
        for _ in range(2):
            reading = self.client.labels_overview()
            self.assertEqual("kept_newer", reading.via)
            self.assertIs(first.value, reading.value)
        self.now += 15 * 60
        reading = self.client.labels_overview()
        self.assertEqual(("fetched", older), (reading.via, reading.value["generated_at"]))

    def test_a_reading_dated_ahead_of_the_service_is_replaced_by_any_other(self) -> None:
        self.change(generated_at=timestamp(200))
        self.client.labels_overview()
        self.change(generated_at=timestamp(0))
        self.now += 60
        self.assertEqual("fetched", self.client.labels_overview().via)

    def test_a_path_that_does_not_exist_is_a_refusal(self) -> None:
        with self.assertRaises(FactsError) as refused:
            FactsClient(f"{URL}/elsewhere/").instruments()
        self.assertEqual((404, "not_found", None), (refused.exception.status, refused.exception.code, refused.exception.freshness))


class Types(TestCase):
    def test_every_hint_resolves(self) -> None:
        shapes = [shape for shape in vars(schemas).values() if isinstance(shape, type)]
        self.assertGreater(len(shapes), 30)
        for shape in shapes:
            typing.get_type_hints(shape)
        for name in ("instruments", "labels_overview", "weather_conditions", "weather_metrics", "__init__"):
            self.assertIn("return", typing.get_type_hints(getattr(FactsClient, name)))

    def test_the_package_is_marked_as_typed(self) -> None:
        self.assertTrue((Path(almanac_client.__file__).parent / "py.typed").exists())
