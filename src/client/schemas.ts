/** The shapes of the facts API. Generated from its OpenAPI document: npm run generate. */
export type paths = Record<string, never>;
export type webhooks = Record<string, never>;
export interface components {
    schemas: {
        /**
         * InstrumentIndex
         * @description Every instrument is listed, whatever its state: none is ever omitted.
         */
        readonly InstrumentIndex: {
            /**
             * @description Identifier of this contract.
             * @constant
             */
            readonly contract: "atproto.facts.instruments/v1";
            /**
             * Format: date-time
             * @description When the service read the artifacts.
             */
            readonly retrieved_at: string;
            /** @description All instruments, in a fixed order. */
            readonly instruments: readonly components["schemas"]["InstrumentEntry"][];
        };
        /**
         * InstrumentEntry
         * @description One instrument and its state.
         */
        readonly InstrumentEntry: {
            /**
             * @description Instrument identifier.
             * @enum {string}
             */
            readonly instrument: "weather" | "labels" | "drift";
            /**
             * @description PRESENT: the artifact is readable, though the fact may still be refused. UNAVAILABLE: it cannot be read. NOT_PUBLISHED: deliberately private.
             * @enum {string}
             */
            readonly state: "PRESENT" | "UNAVAILABLE" | "NOT_PUBLISHED";
            /** @description When the instrument produced its artifact; null when unknown or unusable. */
            readonly generated_at: string | null;
            /** @description Paths of the instrument's facts. Append each to the base address, which may have a path of its own. */
            readonly endpoints: readonly string[];
            /** @description What the instrument observes, or why none of its facts are published. */
            readonly note: string;
            /**
             * @description Only for the label instrument, and only when its artifact is readable.
             * @enum {string}
             */
            readonly freshness_state?: "fresh" | "warming_up" | "stale" | "held" | "unavailable";
        };
        /**
         * LabelsOverview
         * @description A fact in its envelope: the observations with their age, limits and origin.
         */
        readonly LabelsOverview: {
            /**
             * @description Identifier of this fact contract, with its major version: check it.
             * @constant
             */
            readonly contract: "atproto.facts.labels.overview/v1";
            /**
             * @description Instrument that produced the facts.
             * @constant
             */
            readonly instrument: "labels";
            /** @description When the instrument produced the artifact, verbatim; not the time of the request. Null when the instrument does not say. */
            readonly generated_at: string | null;
            /**
             * Format: date-time
             * @description When the service built this representation; up to 60 s before the response.
             */
            readonly retrieved_at: string;
            /** @description retrieved_at minus generated_at, in seconds; negative when generated_at lies ahead, null when it is null. */
            readonly age_seconds: number | null;
            /** @description Rolling epoch (it has acquisition), or the legacy producer (it has census). */
            readonly facts: components["schemas"]["RecentLabelFacts"] | components["schemas"]["LegacyLabelFacts"];
            /** @description Limitations of the facts; always show them together with the facts. */
            readonly caveats: readonly string[];
            /**
             * LabelProvenance
             * @description How the facts were obtained.
             */
            readonly provenance: {
                /**
                 * @description Instrument identifier.
                 * @enum {string}
                 */
                readonly instrument: "labels" | "weather";
                /**
                 * @description How the observations were obtained.
                 * @enum {string}
                 */
                readonly method: "label_stream_and_poll" | "legacy_label_poll" | "jetstream_windows";
                /** @description Schema of the artifact that the facts were read from. */
                readonly artifact_schema_version: string;
                /**
                 * @description Where the observations come from; anything but 'live' is not an observation of the network.
                 * @enum {string}
                 */
                readonly origin?: "live" | "simulated" | "sample";
                /** @description What the instrument does not measure. */
                readonly does_not_measure?: readonly string[];
            };
            readonly freshness: components["schemas"]["LabelFreshness"];
        };
        /**
         * RecentLabelFacts
         * @description Facts of the rolling epoch, which the label instrument of this project observes.
         */
        readonly RecentLabelFacts: {
            /** @description Labelers with at least one observation in the current window. */
            readonly labeler_count: number;
            /**
             * @deprecated
             * @description Always null: the rolling epoch runs no alert pipeline.
             */
            readonly alert_count_total: null;
            /** @description Always null: the rolling epoch runs no alert pipeline. */
            readonly alert_count_window: null;
            /** @description Highest-volume labelers over 7 days. */
            readonly top_labelers_7d: readonly {
                /** @description DID of the labeler: a public moderation service, the only identity that an aggregate fact names. */
                readonly labeler_did: string;
                /** @description Observed events (legacy producer: alerts) over 7 days. */
                readonly count: number;
            }[];
            /** @description Length of the rolling window in days. */
            readonly window_days: number;
            readonly acquisition: components["schemas"]["Acquisition"];
            readonly coverage: components["schemas"]["Coverage"];
            readonly counts: components["schemas"]["LabelCounts"];
            /**
             * @description Always unknown: observed applications and removals do not establish whether a label is active.
             * @constant
             */
            readonly current_label_state: "unknown";
        };
        /**
         * LegacyLabelFacts
         * @description Facts of the legacy producer (schema 23).
         */
        readonly LegacyLabelFacts: {
            /** @description Known labelers. */
            readonly labeler_count: number;
            /**
             * @deprecated
             * @description All alerts ever recorded.
             */
            readonly alert_count_total: number;
            /** @description Alerts of the last 7 days; null when the artifact does not record them. */
            readonly alert_count_window: number | null;
            /** @description Alert counts by rule, last 24 hours. A rule that is not listed was not triggered, or its name is not one that is published. */
            readonly alerts_by_rule_24h?: {
                readonly [key: string]: number;
            };
            /** @description Alert counts by rule, last 7 days. A rule that is not listed was not triggered, or its name is not one that is published. */
            readonly alerts_by_rule_7d?: {
                readonly [key: string]: number;
            };
            /** @description Distribution of labelers. */
            readonly census: {
                /** @description How each labeler came to be known. */
                readonly visibility_class: {
                    /** @description Labelers of the class declared. */
                    readonly declared?: number;
                    /** @description Labelers of the class protocol_public. */
                    readonly protocol_public?: number;
                    /** @description Labelers of the class observed_only. */
                    readonly observed_only?: number;
                    /** @description Labelers of the class unresolved. */
                    readonly unresolved?: number;
                    /** @description Labelers of the class unknown. */
                    readonly unknown?: number;
                };
                /** @description State of each labeler's endpoint. */
                readonly reachability_state: {
                    /** @description Labelers of the class accessible. */
                    readonly accessible?: number;
                    /** @description Labelers of the class auth_required. */
                    readonly auth_required?: number;
                    /** @description Labelers of the class down. */
                    readonly down?: number;
                    /** @description Labelers of the class unknown. */
                    readonly unknown?: number;
                };
                /** @description Confidence of the classification. */
                readonly classification_confidence: {
                    /** @description Labelers of the class high. */
                    readonly high?: number;
                    /** @description Labelers of the class medium. */
                    readonly medium?: number;
                    /** @description Labelers of the class low. */
                    readonly low?: number;
                    /** @description Labelers of the class unknown. */
                    readonly unknown?: number;
                };
                /** @description How well each labeler can be audited. */
                readonly auditability: {
                    /** @description Labelers of the class high. */
                    readonly high?: number;
                    /** @description Labelers of the class medium. */
                    readonly medium?: number;
                    /** @description Labelers of the class low. */
                    readonly low?: number;
                    /** @description Labelers of the class unknown. */
                    readonly unknown?: number;
                };
            };
            readonly network_weather: components["schemas"]["NetworkWeather"];
            readonly observation?: components["schemas"]["LegacyObservation"];
            /** @description Last successes of the producer's jobs. */
            readonly heartbeats: {
                /** @description Last successful discovery. */
                readonly discovery: string | null;
                /** @description Last successful ingest. */
                readonly ingest: string | null;
                /** @description Last successful scan. */
                readonly scan: string | null;
                /** @description Last successful report. */
                readonly report: string | null;
            };
            /** @description Highest-volume labelers over 7 days. */
            readonly top_labelers_7d: readonly {
                /** @description DID of the labeler: a public moderation service, the only identity that an aggregate fact names. */
                readonly labeler_did: string;
                /** @description Observed events (legacy producer: alerts) over 7 days. */
                readonly count: number;
            }[];
            /** @description Length of the window of the producer, in days. Absent if the artifact does not declare it. */
            readonly window_days?: number;
            /**
             * @description Always unknown: observed applications and removals do not establish whether a label is active.
             * @constant
             */
            readonly current_label_state: "unknown";
        };
        /**
         * LegacyObservation
         * @description Adequacy of the legacy observation, which qualifies every fact of the reading.
         */
        readonly LegacyObservation: {
            /**
             * @description Whether the window supports a claim that something did not happen.
             * @enum {string}
             */
            readonly adequacy: "adequate" | "partial" | "unobserved";
            /** @description The adequacy in words, with numerator and denominator. */
            readonly reason: string;
            /** @description Length of the adequacy window, in minutes. */
            readonly window_minutes: number;
            /** @description Minimum fraction of successful attempts for a labeler to count as adequate. */
            readonly coverage_threshold: number;
            /** @description Labelers with at least one attempt in the window. */
            readonly labelers_attempted: number;
            /** @description Attempted labelers at or above the threshold. */
            readonly labelers_adequate: number;
            /** @description Attempted labelers below the threshold. */
            readonly labelers_degraded: number;
            /** @description Labelers whose endpoint is accessible. */
            readonly labelers_accessible: number;
            /** @description Accessible labelers that were not attempted. */
            readonly labelers_unattempted: number;
            /** @description Attempts in the window. */
            readonly attempts: number;
            /** @description Attempts that were answered, empty answers included. */
            readonly successes: number;
            /** @description Time of the last attempt in the window. */
            readonly last_attempt_ts: string | null;
            /** @description Time of the last successful attempt, in or before the window. */
            readonly last_success_ts: string | null;
        };
        /**
         * NetworkWeather
         * @description Signals of the legacy producer; `calm` requires adequate observation.
         */
        readonly NetworkWeather: {
            /** @description The signals that fired; empty if observation was adequate and no known signal fired. */
            readonly signals: readonly ("noisy" | "conflicted" | "churny" | "degraded" | "calm" | "unobserved" | "under-observed")[];
            /** @description Why each signal fired, in words. */
            readonly attribution: string;
            /** @description False if the window does not support a claim that something did not happen. */
            readonly supports_negative_claim: boolean;
        };
        /**
         * Acquisition
         * @description The start of the epoch; no earlier event was observed.
         */
        readonly Acquisition: {
            /**
             * Format: uuid
             * @description Identifier of the epoch's store.
             */
            readonly generation_id: string;
            /**
             * Format: date-time
             * @description Start of the epoch, which observed nothing before this time.
             */
            readonly started_at: string;
            /**
             * @description The clock that started_at was read from.
             * @enum {string}
             */
            readonly basis: "local_acceptance_clock";
        };
        /**
         * Coverage
         * @description What part of the window was observed, and of how many sources.
         */
        readonly Coverage: {
            /**
             * @description no_recorded_gaps does not prove complete source coverage; unknown: the collector cannot establish coverage.
             * @enum {string}
             */
            readonly status: "warming_up" | "gapped" | "no_recorded_gaps" | "unknown";
            /** @description Whole days of the window observed since acquisition.started_at. */
            readonly observed_days: number;
            /** @description The latest accepted collector page. */
            readonly observed_through: string | null;
            /** @description The part of the window before acquisition began; null once the window lies inside the epoch. */
            readonly warmup: components["schemas"]["Gap"] | null;
            /** @description Recorded interruptions inside the window. */
            readonly gaps: readonly components["schemas"]["Gap"][];
            /** @description More gaps were recorded than can be listed: the whole window is then one unknown gap. */
            readonly gap_overflow: boolean;
            readonly sources: components["schemas"]["CoverageSources"];
        };
        /**
         * CoverageSources
         * @description Numbers of label sources by state, and of rows that were not stored.
         */
        readonly CoverageSources: {
            /** @description All enrolled sources: seeded and discovered. */
            readonly enrolled: number;
            /** @description Sources from the epoch's initial roster seed. Absent when unknown. */
            readonly seeded?: number;
            /** @description Sources enrolled later by discovery. Absent when unknown. */
            readonly discovered?: number;
            /** @description Sources not yet requested: unknown coverage, never quiet. */
            readonly unstarted: number;
            /** @description Sources being probed: unknown coverage, never quiet. */
            readonly probing: number;
            /** @description Sources that refuse to be read: unknown coverage, never quiet. */
            readonly refused: number;
            /** @description Sources positioned at the epoch; not proof of completeness. */
            readonly established: number;
            /** @description Rows not stored because they were authored before the epoch. */
            readonly pre_epoch_skipped: number;
            /** @description Rows not stored because they had no usable authored date. */
            readonly undated_skipped: number;
            /** @description Rows authored more than 48 h before acceptance. */
            readonly late_skipped: number;
            /** @description Rows authored too far in the future. Present when the instrument exposes it. */
            readonly future_skipped?: number;
            /** @description Sources whose page order could not be verified: unknown coverage. */
            readonly cursor_order_unverified: number;
            /** @description Sources that yielded only undated rows: unknown coverage. */
            readonly undated_only: number;
            /** @description Sources whose provider rejected requests: unknown coverage. */
            readonly provider_rejects: number;
            /** @description Sources that currently fail transiently and are retried with backoff. */
            readonly unavailable: number;
        };
        /**
         * LabelCounts
         * @description Counts of observed events, which are never estimates of what occurred.
         */
        readonly LabelCounts: {
            /** @description Observed application and removal events, last 24 hours. */
            readonly events_24h: number;
            /** @description Observed application and removal events, last 7 days. */
            readonly events_7d: number;
            /** @description Observed application and removal events, whole window. */
            readonly events_window: number;
            /** @description Labelers with at least one observation in the last 7 days. */
            readonly labelers_active_7d: number;
            /** @description Labelers with at least one observation in the window. */
            readonly labelers_active_window: number;
        };
        /**
         * Gap
         * @description A part of the window that was not observed.
         */
        readonly Gap: {
            /**
             * Format: date-time
             * @description Start, inclusive.
             */
            readonly start: string;
            /**
             * Format: date-time
             * @description End, exclusive.
             */
            readonly end: string;
            /**
             * @description Why it was not observed.
             * @enum {string}
             */
            readonly reason: "not_observed" | "source_unavailable" | "ingest_paused" | "cursor_reset" | "maintenance" | "warmup" | "unknown";
        };
        /**
         * LabelFreshness
         * @description Freshness of the label artifact, judged when the request was answered.
         */
        readonly LabelFreshness: {
            /**
             * @description The first that applies of unavailable, held, stale, warming_up, fresh.
             * @enum {string}
             */
            readonly state: "fresh" | "warming_up" | "stale" | "held" | "unavailable";
            /** @description Retrieval time minus the artifact's generated_at, in seconds. Null when generated_at is unusable. */
            readonly age_seconds: number | null;
            /**
             * @description The rule that decided: the age of the artifact, or the age of the latest accepted collector page.
             * @enum {string}
             */
            readonly basis: "artifact_generated_at" | "collection_observed_through";
            /**
             * @description Age beyond which the reading is stale, in seconds. Configurable: use the value returned.
             * @default 7200
             */
            readonly max_age_seconds: number;
            /** @description Rolling epoch only: retrieval time minus coverage.observed_through, in seconds. Null when no page has been accepted. */
            readonly collection_age_seconds?: number | null;
            /**
             * @description Rolling epoch only: collection age beyond which the reading is stale, in seconds.
             * @default 7200
             */
            readonly collection_max_age_seconds: number;
        };
        /**
         * WeatherConditionsEnvelope
         * @description A fact in its envelope: the observations with their age, limits and origin.
         */
        readonly WeatherConditionsEnvelope: {
            /**
             * @description Identifier of this fact contract, with its major version: check it.
             * @constant
             */
            readonly contract: "atproto.facts.weather.conditions/v1";
            /**
             * @description Instrument that produced the facts.
             * @constant
             */
            readonly instrument: "weather";
            /** @description When the instrument produced the artifact, verbatim; not the time of the request. Null when the instrument does not say. */
            readonly generated_at: string | null;
            /**
             * Format: date-time
             * @description When the service built this representation; up to 60 s before the response.
             */
            readonly retrieved_at: string;
            /** @description retrieved_at minus generated_at, in seconds; negative when generated_at lies ahead, null when it is null. */
            readonly age_seconds: number | null;
            readonly facts: components["schemas"]["WeatherConditionsFacts"];
            /** @description Limitations of the facts; always show them together with the facts. */
            readonly caveats: readonly string[];
            /**
             * WeatherProvenance
             * @description How the facts were obtained.
             */
            readonly provenance: {
                /**
                 * @description Instrument identifier.
                 * @enum {string}
                 */
                readonly instrument: "labels" | "weather";
                /**
                 * @description How the observations were obtained.
                 * @enum {string}
                 */
                readonly method: "label_stream_and_poll" | "legacy_label_poll" | "jetstream_windows";
                /** @description Schema of the artifact that the facts were read from. */
                readonly artifact_schema_version: string;
                /**
                 * @description Where the observations come from; anything but 'live' is not an observation of the network.
                 * @enum {string}
                 */
                readonly origin?: "live" | "simulated" | "sample";
                /** @description What the instrument does not measure. */
                readonly does_not_measure?: readonly string[];
                /** @description The one host whose stream was observed, without credentials and query. Absent if the artifact names no stream or page address. */
                readonly source_endpoint?: string;
                /**
                 * @description The protocol over which the host was read: 'jetstream.legacy' (legacy) or 'jetstream.subscribeEvents' (network.bsky.jetstream.subscribeEvents). A series belongs to one host and one protocol. Absent if the artifact does not name the protocol.
                 * @enum {string}
                 */
                readonly wire?: "jetstream.legacy" | "jetstream.subscribeEvents";
                /** @description What is counted, in one sentence. */
                readonly measures: string;
            };
            readonly freshness: components["schemas"]["WeatherFreshness"];
        };
        /**
         * WeatherMetricsEnvelope
         * @description A fact in its envelope: the observations with their age, limits and origin.
         */
        readonly WeatherMetricsEnvelope: {
            /**
             * @description Identifier of this fact contract, with its major version: check it.
             * @constant
             */
            readonly contract: "atproto.facts.weather.metrics/v1";
            /**
             * @description Instrument that produced the facts.
             * @constant
             */
            readonly instrument: "weather";
            /** @description When the instrument produced the artifact, verbatim; not the time of the request. Null when the instrument does not say. */
            readonly generated_at: string | null;
            /**
             * Format: date-time
             * @description When the service built this representation; up to 60 s before the response.
             */
            readonly retrieved_at: string;
            /** @description retrieved_at minus generated_at, in seconds; negative when generated_at lies ahead, null when it is null. */
            readonly age_seconds: number | null;
            readonly facts: components["schemas"]["WeatherMetricsFacts"];
            /** @description Limitations of the facts; always show them together with the facts. */
            readonly caveats: readonly string[];
            /**
             * WeatherProvenance
             * @description How the facts were obtained.
             */
            readonly provenance: {
                /**
                 * @description Instrument identifier.
                 * @enum {string}
                 */
                readonly instrument: "labels" | "weather";
                /**
                 * @description How the observations were obtained.
                 * @enum {string}
                 */
                readonly method: "label_stream_and_poll" | "legacy_label_poll" | "jetstream_windows";
                /** @description Schema of the artifact that the facts were read from. */
                readonly artifact_schema_version: string;
                /**
                 * @description Where the observations come from; anything but 'live' is not an observation of the network.
                 * @enum {string}
                 */
                readonly origin?: "live" | "simulated" | "sample";
                /** @description What the instrument does not measure. */
                readonly does_not_measure?: readonly string[];
                /** @description The one host whose stream was observed, without credentials and query. Absent if the artifact names no stream or page address. */
                readonly source_endpoint?: string;
                /**
                 * @description The protocol over which the host was read: 'jetstream.legacy' (legacy) or 'jetstream.subscribeEvents' (network.bsky.jetstream.subscribeEvents). A series belongs to one host and one protocol. Absent if the artifact does not name the protocol.
                 * @enum {string}
                 */
                readonly wire?: "jetstream.legacy" | "jetstream.subscribeEvents";
                /** @description What is counted, in one sentence. */
                readonly measures: string;
            };
            readonly freshness: components["schemas"]["WeatherFreshness"];
        };
        /**
         * WeatherConditionsFacts
         * @description The conditions, and the interval and events on which they are based.
         */
        readonly WeatherConditionsFacts: {
            /** @description Null when the instrument produced no conditions: absence of a reading, not calm. */
            readonly conditions: components["schemas"]["WeatherConditions"] | null;
            readonly window: components["schemas"]["WeatherWindow"];
            readonly total_events: components["schemas"]["TotalEvents"];
        };
        /**
         * WeatherMetricsFacts
         * @description Totals and rates by collection.
         */
        readonly WeatherMetricsFacts: {
            readonly window: components["schemas"]["WeatherWindow"];
            /**
             * Collections
             * @description By collection name. A name that is missing was not observed. Collections overlap and do not add up: post.create includes post.create.reply and post.create.quote.
             */
            readonly collections: {
                /** @description Posts created, replies and quotes included. Absent or null when it was not observed. */
                readonly "post.create"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Posts created as replies; part of post.create. Absent or null when it was not observed. */
                readonly "post.create.reply"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Posts created that quote a record; part of post.create. Absent or null when it was not observed. */
                readonly "post.create.quote"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Posts deleted. Absent or null when it was not observed. */
                readonly "post.delete"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Likes given. Absent or null when it was not observed. */
                readonly "like.create"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Likes taken back. Absent or null when it was not observed. */
                readonly "like.delete"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Reposts made. Absent or null when it was not observed. */
                readonly "repost.create"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Reposts taken back. Absent or null when it was not observed. */
                readonly "repost.delete"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Follows begun. Absent or null when it was not observed. */
                readonly "follow.create"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Follows ended. Absent or null when it was not observed. */
                readonly "follow.delete"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Blocks set. Absent or null when it was not observed. */
                readonly "block.create"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Blocks lifted. Absent or null when it was not observed. */
                readonly "block.delete"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Accounts added to lists. Absent or null when it was not observed. */
                readonly "listitem.create"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Accounts removed from lists. Absent or null when it was not observed. */
                readonly "listitem.delete"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Profiles changed. New profiles are not counted. Absent or null when it was not observed. */
                readonly "profile.update"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Identity events: an account changed its handle or its DID document. Absent or null when it was not observed. */
                readonly "identity.event"?: components["schemas"]["CollectionMetrics"] | null;
                /** @description Account events: an account was activated, deactivated, suspended, taken down or deleted. Absent or null when it was not observed. */
                readonly "account.event"?: components["schemas"]["CollectionMetrics"] | null;
            };
            readonly total_events: components["schemas"]["TotalEvents"];
        };
        /**
         * WeatherConditions
         * @description Network conditions as a state and as text.
         */
        readonly WeatherConditions: {
            /**
             * @description Condition state. station_offline and unavailable are absence of a reading, not calm.
             * @enum {string}
             */
            readonly state: "station_offline" | "unavailable" | "lull" | "calm" | "active" | "unsettled" | "turbulent" | "storm" | "severe_storm";
            /** @description The state, for people. */
            readonly label: string;
            /** @description One line. */
            readonly headline: string;
            /** @description One plain sentence. */
            readonly sentence: string;
            /**
             * @description Amount of history that supports the comparison.
             * @enum {string}
             */
            readonly confidence: "supported" | "thin" | "unsupported";
            /** @description End of the window that was compared; null if none was. */
            readonly as_of: string | null;
        };
        /**
         * WeatherWindow
         * @description The interval of the weather facts, exactly as the instrument delimited it.
         */
        readonly WeatherWindow: {
            /** @description Start, inclusive; null when nothing was observed. */
            readonly start: string | null;
            /** @description End, exclusive; null when nothing was observed. */
            readonly end: string | null;
            /** @description Width of one window, in seconds. */
            readonly bucket_seconds?: number;
            /** @description Length of the interval, in seconds. */
            readonly span_seconds: number;
            /** @description Length of the observed part, in seconds. */
            readonly observed_seconds: number;
            /** @description observed_seconds / span_seconds. Below 1, part of the interval was not observed; null when the span is 0. */
            readonly coverage_ratio: number | null;
            /** @description Windows that were observed at least in part. */
            readonly observed_windows?: number;
            /** @description Windows that were not observed at all. */
            readonly unobserved_windows?: number;
        };
        /**
         * TotalEvents
         * @description All events of the interval, each counted once, and their rate.
         */
        readonly TotalEvents: {
            /** @description Events observed, tracked or not; null when nothing was observed. */
            readonly total: number | null;
            /** @description Events per observed second; null when less than 1 second was observed. */
            readonly mean_rate_per_s: number | null;
            /** @description Observed seconds, by which the total is divided. */
            readonly observed_seconds?: number;
        };
        /**
         * CollectionMetrics
         * @description Observed events of one collection.
         */
        readonly CollectionMetrics: {
            /** @description Events observed: never an estimate of what occurred. */
            readonly total: number;
            /** @description Events per observed second; null when less than 1 second was observed. */
            readonly mean_rate_per_s: number | null;
            /** @description Observed seconds, by which the total is divided. */
            readonly observed_seconds: number;
            /** @description Windows that were observed at least in part. */
            readonly observed_windows: number;
            /** @description Windows that were not observed; they are omitted, never interpolated. */
            readonly unobserved_windows: number;
        };
        /**
         * WeatherFreshness
         * @description Computed by the instrument at generated_at: add the envelope's age_seconds to get the age now.
         */
        readonly WeatherFreshness: {
            /**
             * @description Freshness at generated_at, as the instrument computed it.
             * @enum {string}
             */
            readonly state: "current" | "partial" | "stale" | "unavailable";
            /** @description End of the newest observed window. */
            readonly newest_observation_end: string | null;
            /** @description End of the newest window observed in full. */
            readonly newest_complete_observation_end: string | null;
            /** @description Age of the newest observation at generated_at, in seconds. */
            readonly age_seconds: number | null;
            /** @description Age beyond which the instrument reports its reading as stale, in seconds. */
            readonly max_age_seconds: number | null;
            /** @description The rule that the instrument applied, in its words. */
            readonly basis: string | null;
        };
        /**
         * Health
         * @description Liveness of the publication service, independent of the instruments.
         */
        readonly Health: {
            /**
             * @description Always ok.
             * @constant
             */
            readonly status: "ok";
            /** @description Name of the answering service. */
            readonly service: string;
        };
        /**
         * Error
         * @description Clients preserve the error and never substitute zero counts or a prior reading.
         */
        readonly Error: {
            /** @description The refusal. */
            readonly error: {
                /** @description The HTTP status, repeated. */
                readonly status: number;
                /**
                 * @description A code of a closed list.
                 * @enum {string}
                 */
                readonly code: "bad_request" | "not_found" | "method_not_allowed" | "request_timeout" | "uri_too_long" | "headers_too_large" | "internal_error" | "source_unavailable" | "source_stale" | "source_held" | "asset_unavailable";
                /** @description What happened and what to do, for people. Do not parse it. */
                readonly message: string;
                readonly freshness?: components["schemas"]["LabelFreshness"];
            };
        };
    };
    responses: never;
    parameters: never;
    requestBodies: never;
    headers: never;
    pathItems: never;
}
export type InstrumentIndex = components['schemas']['InstrumentIndex'];
export type InstrumentEntry = components['schemas']['InstrumentEntry'];
export type LabelsOverview = components['schemas']['LabelsOverview'];
export type RecentLabelFacts = components['schemas']['RecentLabelFacts'];
export type LegacyLabelFacts = components['schemas']['LegacyLabelFacts'];
export type LegacyObservation = components['schemas']['LegacyObservation'];
export type NetworkWeather = components['schemas']['NetworkWeather'];
export type Acquisition = components['schemas']['Acquisition'];
export type Coverage = components['schemas']['Coverage'];
export type CoverageSources = components['schemas']['CoverageSources'];
export type LabelCounts = components['schemas']['LabelCounts'];
export type Gap = components['schemas']['Gap'];
export type LabelFreshness = components['schemas']['LabelFreshness'];
export type WeatherConditionsEnvelope = components['schemas']['WeatherConditionsEnvelope'];
export type WeatherMetricsEnvelope = components['schemas']['WeatherMetricsEnvelope'];
export type WeatherConditionsFacts = components['schemas']['WeatherConditionsFacts'];
export type WeatherMetricsFacts = components['schemas']['WeatherMetricsFacts'];
export type WeatherConditions = components['schemas']['WeatherConditions'];
export type WeatherWindow = components['schemas']['WeatherWindow'];
export type TotalEvents = components['schemas']['TotalEvents'];
export type CollectionMetrics = components['schemas']['CollectionMetrics'];
export type WeatherFreshness = components['schemas']['WeatherFreshness'];
export type Health = components['schemas']['Health'];
export type Error = components['schemas']['Error'];
export type $defs = Record<string, never>;
export type operations = Record<string, never>;
