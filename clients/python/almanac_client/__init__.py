"""A client for the facts API of an Almanac observatory. It requires only the standard library."""

from .client import FactsClient
from .currency import Currency, current_age, weather_currency
from .errors import AnswerError, ClientError, FactsError, NetworkError, StaleCacheError
from .exchange import Response, Transport
from .reading import Reading
from .staleness import Staleness
from .version import __version__

__all__ = [
    "AnswerError",
    "ClientError",
    "Currency",
    "FactsClient",
    "FactsError",
    "NetworkError",
    "Reading",
    "Response",
    "StaleCacheError",
    "Staleness",
    "Transport",
    "__version__",
    "current_age",
    "weather_currency",
]
