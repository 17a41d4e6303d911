"""The client of one service."""

import time
from typing import Callable
from urllib.parse import urlsplit

from .exchange import Transport, send
from .reading import Reading
from .resource import Resource
from .schemas import InstrumentIndex, LabelsOverview, WeatherConditionsEnvelope, WeatherMetricsEnvelope
from .staleness import ServiceClock


class FactsClient:
    """A client for the facts of one service.

    Calls within a response's ``max-age`` send no request, so frequent calls are cheap. Threads may share a client. Each
    method raises FactsError, NetworkError, AnswerError or StaleCacheError if there is no reading.
    """

    def __init__(
        self,
        base_url: str,
        *,
        timeout: float = 10.0,
        max_bytes: int = 4 * 1024 * 1024,
        transport: Transport = send,
        now: Callable[[], float] = time.time,
    ) -> None:
        """Creates a client of the service at a base address, such as ``https://facts.example/atproto``.

        ``timeout`` is the timeout of a whole response in seconds, ``max_bytes`` the maximum size of a response;
        ``transport`` sends requests, and ``now`` returns seconds since 1970. Raises ValueError for an invalid address.
        """
        base = _base_of(base_url)
        options = (transport, timeout, max_bytes, now, ServiceClock())
        self._instruments: Resource[InstrumentIndex] = Resource(
            base, "/v1/instruments", "atproto.facts.instruments/v1", *options
        )
        self._labels_overview: Resource[LabelsOverview] = Resource(
            base, "/v1/labels/overview", "atproto.facts.labels.overview/v1", *options, has_bound=True
        )
        self._weather_conditions: Resource[WeatherConditionsEnvelope] = Resource(
            base, "/v1/weather/conditions", "atproto.facts.weather.conditions/v1", *options
        )
        self._weather_metrics: Resource[WeatherMetricsEnvelope] = Resource(
            base, "/v1/weather/metrics", "atproto.facts.weather.metrics/v1", *options
        )

    def instruments(self) -> Reading[InstrumentIndex]:
        """Requests all instruments, with the paths of their facts."""
        return self._instruments()

    def labels_overview(self) -> Reading[LabelsOverview]:
        """Requests observed label events, with coverage and freshness."""
        return self._labels_overview()

    def weather_conditions(self) -> Reading[WeatherConditionsEnvelope]:
        """Requests network conditions as text."""
        return self._weather_conditions()

    def weather_metrics(self) -> Reading[WeatherMetricsEnvelope]:
        """Requests observed events and rates by collection."""
        return self._weather_metrics()


def _base_of(base_url: str) -> str:
    parts = urlsplit(base_url)
    if parts.scheme not in ("http", "https") or not parts.hostname or parts.username is not None:
        raise ValueError(
            "the base URL must be an http or https URL without credentials, such as https://facts.example"
        )
    return f"{parts.scheme}://{parts.netloc}{parts.path.rstrip('/')}"
