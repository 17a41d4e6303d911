"""The shapes of the facts API. Generated from its OpenAPI document: npm run generate."""

from typing import Dict, List, Literal, Optional, TypedDict, Union


class _InstrumentEntry(TypedDict):
    #: Instrument identifier.
    instrument: Literal["weather", "labels", "drift"]
    #: PRESENT: the artifact is readable, though the fact may still be refused. UNAVAILABLE: it cannot be read. NOT_PUBLISHED: deliberately private.
    state: Literal["PRESENT", "UNAVAILABLE", "NOT_PUBLISHED"]
    #: When the instrument produced its artifact; null when unknown or unusable.
    generated_at: Optional[str]
    #: Paths of the instrument's facts. Append each to the base address, which may have a path of its own.
    endpoints: List[str]
    #: What the instrument observes, or why none of its facts are published.
    note: str


class InstrumentEntry(_InstrumentEntry, total=False):
    """One instrument and its state."""

    #: Only for the label instrument, and only when its artifact is readable.
    freshness_state: Literal["fresh", "warming_up", "stale", "held", "unavailable"]


class InstrumentIndex(TypedDict):
    """Every instrument is listed, whatever its state: none is ever omitted."""

    #: Identifier of this contract.
    contract: Literal["atproto.facts.instruments/v1"]
    #: When the service read the artifacts.
    retrieved_at: str
    #: All instruments, in a fixed order.
    instruments: List[InstrumentEntry]


class RecentLabelFactsTopLabelers7d(TypedDict):
    #: DID of the labeler: a public moderation service, the only identity that an aggregate fact names.
    labeler_did: str
    #: Observed events (legacy producer: alerts) over 7 days.
    count: int


class Acquisition(TypedDict):
    """The start of the epoch; no earlier event was observed."""

    #: Identifier of the epoch's store.
    generation_id: str
    #: Start of the epoch, which observed nothing before this time.
    started_at: str
    #: The clock that started_at was read from.
    basis: Literal["local_acceptance_clock"]


class Gap(TypedDict):
    """A part of the window that was not observed."""

    #: Start, inclusive.
    start: str
    #: End, exclusive.
    end: str
    #: Why it was not observed.
    reason: Literal["not_observed", "source_unavailable", "ingest_paused", "cursor_reset", "maintenance", "warmup", "unknown"]


class _CoverageSources(TypedDict):
    #: All enrolled sources: seeded and discovered.
    enrolled: int
    #: Sources not yet requested: unknown coverage, never quiet.
    unstarted: int
    #: Sources being probed: unknown coverage, never quiet.
    probing: int
    #: Sources that refuse to be read: unknown coverage, never quiet.
    refused: int
    #: Sources positioned at the epoch; not proof of completeness.
    established: int
    #: Rows not stored because they were authored before the epoch.
    pre_epoch_skipped: int
    #: Rows not stored because they had no usable authored date.
    undated_skipped: int
    #: Rows authored more than 48 h before acceptance.
    late_skipped: int
    #: Sources whose page order could not be verified: unknown coverage.
    cursor_order_unverified: int
    #: Sources that yielded only undated rows: unknown coverage.
    undated_only: int
    #: Sources whose provider rejected requests: unknown coverage.
    provider_rejects: int
    #: Sources that currently fail transiently and are retried with backoff.
    unavailable: int


class CoverageSources(_CoverageSources, total=False):
    """Numbers of label sources by state, and of rows that were not stored."""

    #: Sources from the epoch's initial roster seed. Absent when unknown.
    seeded: int
    #: Sources enrolled later by discovery. Absent when unknown.
    discovered: int
    #: Rows authored too far in the future. Present when the instrument exposes it.
    future_skipped: int


class Coverage(TypedDict):
    """What part of the window was observed, and of how many sources."""

    #: no_recorded_gaps does not prove complete source coverage; unknown: the collector cannot establish coverage.
    status: Literal["warming_up", "gapped", "no_recorded_gaps", "unknown"]
    #: Whole days of the window observed since acquisition.started_at.
    observed_days: int
    #: The latest accepted collector page.
    observed_through: Optional[str]
    #: The part of the window before acquisition began; null once the window lies inside the epoch.
    warmup: Optional[Gap]
    #: Recorded interruptions inside the window.
    gaps: List[Gap]
    #: More gaps were recorded than can be listed: the whole window is then one unknown gap.
    gap_overflow: bool
    sources: CoverageSources


class LabelCounts(TypedDict):
    """Counts of observed events, which are never estimates of what occurred."""

    #: Observed application and removal events, last 24 hours.
    events_24h: int
    #: Observed application and removal events, last 7 days.
    events_7d: int
    #: Observed application and removal events, whole window.
    events_window: int
    #: Labelers with at least one observation in the last 7 days.
    labelers_active_7d: int
    #: Labelers with at least one observation in the window.
    labelers_active_window: int


class RecentLabelFacts(TypedDict):
    """Facts of the rolling epoch, which the label instrument of this project observes."""

    #: Labelers with at least one observation in the current window.
    labeler_count: int
    #: Always null: the rolling epoch runs no alert pipeline.
    alert_count_total: None
    #: Always null: the rolling epoch runs no alert pipeline.
    alert_count_window: None
    #: Highest-volume labelers over 7 days.
    top_labelers_7d: List[RecentLabelFactsTopLabelers7d]
    #: Length of the rolling window in days.
    window_days: int
    acquisition: Acquisition
    coverage: Coverage
    counts: LabelCounts
    #: Always unknown: observed applications and removals do not establish whether a label is active.
    current_label_state: Literal["unknown"]


class LegacyLabelFactsCensusVisibilityClass(TypedDict, total=False):
    """How each labeler came to be known."""

    #: Labelers of the class declared.
    declared: int
    #: Labelers of the class protocol_public.
    protocol_public: int
    #: Labelers of the class observed_only.
    observed_only: int
    #: Labelers of the class unresolved.
    unresolved: int
    #: Labelers of the class unknown.
    unknown: int


class LegacyLabelFactsCensusReachabilityState(TypedDict, total=False):
    """State of each labeler's endpoint."""

    #: Labelers of the class accessible.
    accessible: int
    #: Labelers of the class auth_required.
    auth_required: int
    #: Labelers of the class down.
    down: int
    #: Labelers of the class unknown.
    unknown: int


class LegacyLabelFactsCensusClassificationConfidence(TypedDict, total=False):
    """Confidence of the classification."""

    #: Labelers of the class high.
    high: int
    #: Labelers of the class medium.
    medium: int
    #: Labelers of the class low.
    low: int
    #: Labelers of the class unknown.
    unknown: int


class LegacyLabelFactsCensusAuditability(TypedDict, total=False):
    """How well each labeler can be audited."""

    #: Labelers of the class high.
    high: int
    #: Labelers of the class medium.
    medium: int
    #: Labelers of the class low.
    low: int
    #: Labelers of the class unknown.
    unknown: int


class LegacyLabelFactsCensus(TypedDict):
    """Distribution of labelers."""

    #: How each labeler came to be known.
    visibility_class: LegacyLabelFactsCensusVisibilityClass
    #: State of each labeler's endpoint.
    reachability_state: LegacyLabelFactsCensusReachabilityState
    #: Confidence of the classification.
    classification_confidence: LegacyLabelFactsCensusClassificationConfidence
    #: How well each labeler can be audited.
    auditability: LegacyLabelFactsCensusAuditability


class NetworkWeather(TypedDict):
    """Signals of the legacy producer; `calm` requires adequate observation."""

    #: The signals that fired; empty if observation was adequate and no known signal fired.
    signals: List[Literal["noisy", "conflicted", "churny", "degraded", "calm", "unobserved", "under-observed"]]
    #: Why each signal fired, in words.
    attribution: str
    #: False if the window does not support a claim that something did not happen.
    supports_negative_claim: bool


class LegacyObservation(TypedDict):
    """Adequacy of the legacy observation, which qualifies every fact of the reading."""

    #: Whether the window supports a claim that something did not happen.
    adequacy: Literal["adequate", "partial", "unobserved"]
    #: The adequacy in words, with numerator and denominator.
    reason: str
    #: Length of the adequacy window, in minutes.
    window_minutes: int
    #: Minimum fraction of successful attempts for a labeler to count as adequate.
    coverage_threshold: float
    #: Labelers with at least one attempt in the window.
    labelers_attempted: int
    #: Attempted labelers at or above the threshold.
    labelers_adequate: int
    #: Attempted labelers below the threshold.
    labelers_degraded: int
    #: Labelers whose endpoint is accessible.
    labelers_accessible: int
    #: Accessible labelers that were not attempted.
    labelers_unattempted: int
    #: Attempts in the window.
    attempts: int
    #: Attempts that were answered, empty answers included.
    successes: int
    #: Time of the last attempt in the window.
    last_attempt_ts: Optional[str]
    #: Time of the last successful attempt, in or before the window.
    last_success_ts: Optional[str]


class LegacyLabelFactsHeartbeats(TypedDict):
    """Last successes of the producer's jobs."""

    #: Last successful discovery.
    discovery: Optional[str]
    #: Last successful ingest.
    ingest: Optional[str]
    #: Last successful scan.
    scan: Optional[str]
    #: Last successful report.
    report: Optional[str]


class LegacyLabelFactsTopLabelers7d(TypedDict):
    #: DID of the labeler: a public moderation service, the only identity that an aggregate fact names.
    labeler_did: str
    #: Observed events (legacy producer: alerts) over 7 days.
    count: int


class _LegacyLabelFacts(TypedDict):
    #: Known labelers.
    labeler_count: int
    #: All alerts ever recorded.
    alert_count_total: int
    #: Alerts of the last 7 days; null when the artifact does not record them.
    alert_count_window: Optional[int]
    #: Distribution of labelers.
    census: LegacyLabelFactsCensus
    network_weather: NetworkWeather
    #: Last successes of the producer's jobs.
    heartbeats: LegacyLabelFactsHeartbeats
    #: Highest-volume labelers over 7 days.
    top_labelers_7d: List[LegacyLabelFactsTopLabelers7d]
    #: Always unknown: observed applications and removals do not establish whether a label is active.
    current_label_state: Literal["unknown"]


class LegacyLabelFacts(_LegacyLabelFacts, total=False):
    """Facts of the legacy producer (schema 23)."""

    #: Alert counts by rule, last 24 hours. A rule that is not listed was not triggered, or its name is not one that is published.
    alerts_by_rule_24h: Dict[str, int]
    #: Alert counts by rule, last 7 days. A rule that is not listed was not triggered, or its name is not one that is published.
    alerts_by_rule_7d: Dict[str, int]
    observation: LegacyObservation
    #: Length of the window of the producer, in days. Absent if the artifact does not declare it.
    window_days: int


class _LabelsOverviewProvenance(TypedDict):
    #: Instrument identifier.
    instrument: Literal["labels", "weather"]
    #: How the observations were obtained.
    method: Literal["label_stream_and_poll", "legacy_label_poll", "jetstream_windows"]
    #: Schema of the artifact that the facts were read from.
    artifact_schema_version: str


class LabelsOverviewProvenance(_LabelsOverviewProvenance, total=False):
    """How the facts were obtained."""

    #: Where the observations come from; anything but 'live' is not an observation of the network.
    origin: Literal["live", "simulated", "sample"]
    #: What the instrument does not measure.
    does_not_measure: List[str]


class _LabelFreshness(TypedDict):
    #: The first that applies of unavailable, held, stale, warming_up, fresh.
    state: Literal["fresh", "warming_up", "stale", "held", "unavailable"]
    #: Retrieval time minus the artifact's generated_at, in seconds. Null when generated_at is unusable.
    age_seconds: Optional[float]
    #: The rule that decided: the age of the artifact, or the age of the latest accepted collector page.
    basis: Literal["artifact_generated_at", "collection_observed_through"]
    #: Age beyond which the reading is stale, in seconds. Configurable: use the value returned.
    max_age_seconds: int


class LabelFreshness(_LabelFreshness, total=False):
    """Freshness of the label artifact, judged when the request was answered."""

    #: Rolling epoch only: retrieval time minus coverage.observed_through, in seconds. Null when no page has been accepted.
    collection_age_seconds: Optional[float]
    #: Rolling epoch only: collection age beyond which the reading is stale, in seconds.
    collection_max_age_seconds: int


class LabelsOverview(TypedDict):
    """A fact in its envelope: the observations with their age, limits and origin."""

    #: Identifier of this fact contract, with its major version: check it.
    contract: Literal["atproto.facts.labels.overview/v1"]
    #: Instrument that produced the facts.
    instrument: Literal["labels"]
    #: When the instrument produced the artifact, verbatim; not the time of the request. Null when the instrument does not say.
    generated_at: Optional[str]
    #: When the service built this representation; up to 60 s before the response.
    retrieved_at: str
    #: retrieved_at minus generated_at, in seconds; negative when generated_at lies ahead, null when it is null.
    age_seconds: Optional[float]
    #: Rolling epoch (it has acquisition), or the legacy producer (it has census).
    facts: Union[RecentLabelFacts, LegacyLabelFacts]
    #: Limitations of the facts; always show them together with the facts.
    caveats: List[str]
    #: How the facts were obtained.
    provenance: LabelsOverviewProvenance
    freshness: LabelFreshness


class WeatherConditions(TypedDict):
    """Network conditions as a state and as text."""

    #: Condition state. station_offline and unavailable are absence of a reading, not calm.
    state: Literal["station_offline", "unavailable", "lull", "calm", "active", "unsettled", "turbulent", "storm", "severe_storm"]
    #: The state, for people.
    label: str
    #: One line.
    headline: str
    #: One plain sentence.
    sentence: str
    #: Amount of history that supports the comparison.
    confidence: Literal["supported", "thin", "unsupported"]
    #: End of the window that was compared; null if none was.
    as_of: Optional[str]


class _WeatherWindow(TypedDict):
    #: Start, inclusive; null when nothing was observed.
    start: Optional[str]
    #: End, exclusive; null when nothing was observed.
    end: Optional[str]
    #: Length of the interval, in seconds.
    span_seconds: float
    #: Length of the observed part, in seconds.
    observed_seconds: float
    #: observed_seconds / span_seconds. Below 1, part of the interval was not observed; null when the span is 0.
    coverage_ratio: Optional[float]


class WeatherWindow(_WeatherWindow, total=False):
    """The interval of the weather facts, exactly as the instrument delimited it."""

    #: Width of one window, in seconds.
    bucket_seconds: int
    #: Windows that were observed at least in part.
    observed_windows: int
    #: Windows that were not observed at all.
    unobserved_windows: int


class _TotalEvents(TypedDict):
    #: Events observed, tracked or not; null when nothing was observed.
    total: Optional[int]
    #: Events per observed second; null when less than 1 second was observed.
    mean_rate_per_s: Optional[float]


class TotalEvents(_TotalEvents, total=False):
    """All events of the interval, each counted once, and their rate."""

    #: Observed seconds, by which the total is divided.
    observed_seconds: float


class WeatherConditionsFacts(TypedDict):
    """The conditions, and the interval and events on which they are based."""

    #: Null when the instrument produced no conditions: absence of a reading, not calm.
    conditions: Optional[WeatherConditions]
    window: WeatherWindow
    total_events: TotalEvents


class _WeatherConditionsEnvelopeProvenance(TypedDict):
    #: Instrument identifier.
    instrument: Literal["labels", "weather"]
    #: How the observations were obtained.
    method: Literal["label_stream_and_poll", "legacy_label_poll", "jetstream_windows"]
    #: Schema of the artifact that the facts were read from.
    artifact_schema_version: str
    #: What is counted, in one sentence.
    measures: str


class WeatherConditionsEnvelopeProvenance(_WeatherConditionsEnvelopeProvenance, total=False):
    """How the facts were obtained."""

    #: Where the observations come from; anything but 'live' is not an observation of the network.
    origin: Literal["live", "simulated", "sample"]
    #: What the instrument does not measure.
    does_not_measure: List[str]
    #: The one host whose stream was observed, without credentials and query. Absent if the artifact names no stream or page address.
    source_endpoint: str
    #: The protocol over which the host was read: 'jetstream.legacy' (legacy) or 'jetstream.subscribeEvents' (network.bsky.jetstream.subscribeEvents). A series belongs to one host and one protocol. Absent if the artifact does not name the protocol.
    wire: Literal["jetstream.legacy", "jetstream.subscribeEvents"]


class WeatherFreshness(TypedDict):
    """Computed by the instrument at generated_at: add the envelope's age_seconds to get the age now."""

    #: Freshness at generated_at, as the instrument computed it.
    state: Literal["current", "partial", "stale", "unavailable"]
    #: End of the newest observed window.
    newest_observation_end: Optional[str]
    #: End of the newest window observed in full.
    newest_complete_observation_end: Optional[str]
    #: Age of the newest observation at generated_at, in seconds.
    age_seconds: Optional[float]
    #: Age beyond which the instrument reports its reading as stale, in seconds.
    max_age_seconds: Optional[float]
    #: The rule that the instrument applied, in its words.
    basis: Optional[str]


class WeatherConditionsEnvelope(TypedDict):
    """A fact in its envelope: the observations with their age, limits and origin."""

    #: Identifier of this fact contract, with its major version: check it.
    contract: Literal["atproto.facts.weather.conditions/v1"]
    #: Instrument that produced the facts.
    instrument: Literal["weather"]
    #: When the instrument produced the artifact, verbatim; not the time of the request. Null when the instrument does not say.
    generated_at: Optional[str]
    #: When the service built this representation; up to 60 s before the response.
    retrieved_at: str
    #: retrieved_at minus generated_at, in seconds; negative when generated_at lies ahead, null when it is null.
    age_seconds: Optional[float]
    facts: WeatherConditionsFacts
    #: Limitations of the facts; always show them together with the facts.
    caveats: List[str]
    #: How the facts were obtained.
    provenance: WeatherConditionsEnvelopeProvenance
    freshness: WeatherFreshness


class CollectionMetrics(TypedDict):
    """Observed events of one collection."""

    #: Events observed: never an estimate of what occurred.
    total: int
    #: Events per observed second; null when less than 1 second was observed.
    mean_rate_per_s: Optional[float]
    #: Observed seconds, by which the total is divided.
    observed_seconds: float
    #: Windows that were observed at least in part.
    observed_windows: int
    #: Windows that were not observed; they are omitted, never interpolated.
    unobserved_windows: int


WeatherMetricsFactsCollections = TypedDict(
    "WeatherMetricsFactsCollections",
    {
        "post.create": Optional[CollectionMetrics],
        "post.create.reply": Optional[CollectionMetrics],
        "post.create.quote": Optional[CollectionMetrics],
        "post.delete": Optional[CollectionMetrics],
        "like.create": Optional[CollectionMetrics],
        "like.delete": Optional[CollectionMetrics],
        "repost.create": Optional[CollectionMetrics],
        "repost.delete": Optional[CollectionMetrics],
        "follow.create": Optional[CollectionMetrics],
        "follow.delete": Optional[CollectionMetrics],
        "block.create": Optional[CollectionMetrics],
        "block.delete": Optional[CollectionMetrics],
        "listitem.create": Optional[CollectionMetrics],
        "listitem.delete": Optional[CollectionMetrics],
        "profile.update": Optional[CollectionMetrics],
        "identity.event": Optional[CollectionMetrics],
        "account.event": Optional[CollectionMetrics],
    },
    total=False,
)


class WeatherMetricsFacts(TypedDict):
    """Totals and rates by collection."""

    window: WeatherWindow
    #: By collection name. A name that is missing was not observed. Collections overlap and do not add up: post.create includes post.create.reply and post.create.quote.
    collections: WeatherMetricsFactsCollections
    total_events: TotalEvents


class _WeatherMetricsEnvelopeProvenance(TypedDict):
    #: Instrument identifier.
    instrument: Literal["labels", "weather"]
    #: How the observations were obtained.
    method: Literal["label_stream_and_poll", "legacy_label_poll", "jetstream_windows"]
    #: Schema of the artifact that the facts were read from.
    artifact_schema_version: str
    #: What is counted, in one sentence.
    measures: str


class WeatherMetricsEnvelopeProvenance(_WeatherMetricsEnvelopeProvenance, total=False):
    """How the facts were obtained."""

    #: Where the observations come from; anything but 'live' is not an observation of the network.
    origin: Literal["live", "simulated", "sample"]
    #: What the instrument does not measure.
    does_not_measure: List[str]
    #: The one host whose stream was observed, without credentials and query. Absent if the artifact names no stream or page address.
    source_endpoint: str
    #: The protocol over which the host was read: 'jetstream.legacy' (legacy) or 'jetstream.subscribeEvents' (network.bsky.jetstream.subscribeEvents). A series belongs to one host and one protocol. Absent if the artifact does not name the protocol.
    wire: Literal["jetstream.legacy", "jetstream.subscribeEvents"]


class WeatherMetricsEnvelope(TypedDict):
    """A fact in its envelope: the observations with their age, limits and origin."""

    #: Identifier of this fact contract, with its major version: check it.
    contract: Literal["atproto.facts.weather.metrics/v1"]
    #: Instrument that produced the facts.
    instrument: Literal["weather"]
    #: When the instrument produced the artifact, verbatim; not the time of the request. Null when the instrument does not say.
    generated_at: Optional[str]
    #: When the service built this representation; up to 60 s before the response.
    retrieved_at: str
    #: retrieved_at minus generated_at, in seconds; negative when generated_at lies ahead, null when it is null.
    age_seconds: Optional[float]
    facts: WeatherMetricsFacts
    #: Limitations of the facts; always show them together with the facts.
    caveats: List[str]
    #: How the facts were obtained.
    provenance: WeatherMetricsEnvelopeProvenance
    freshness: WeatherFreshness


class Health(TypedDict):
    """Liveness of the publication service, independent of the instruments."""

    #: Always ok.
    status: Literal["ok"]
    #: Name of the answering service.
    service: str


class _ErrorError(TypedDict):
    #: The HTTP status, repeated.
    status: int
    #: A code of a closed list.
    code: Literal["bad_request", "not_found", "method_not_allowed", "request_timeout", "uri_too_long", "headers_too_large", "internal_error", "source_unavailable", "source_stale", "source_held", "asset_unavailable"]
    #: What happened and what to do, for people. Do not parse it.
    message: str


class ErrorError(_ErrorError, total=False):
    """The refusal."""

    freshness: LabelFreshness


class Error(TypedDict):
    """Clients preserve the error and never substitute zero counts or a prior reading."""

    #: The refusal.
    error: ErrorError
