/** Limits of the contract (section "Limits"). Each comment states the unit. */

/** Cache lifetime of 200 responses of the index and the fact endpoints, in seconds. */
export const cacheSeconds = 60;

/** Width of the age buckets of an artifact, in seconds. An ETag depends on the bucket. */
export const bucketSeconds = 60;

/** Default maximum age of the label artifact and of its `observed_through`, in seconds. */
export const defaultMaxAgeSeconds = 7200;

/** Maximum time by which a usable label timestamp may be ahead of the service's clock, in seconds. */
export const futureToleranceSeconds = 300;

/** Maximum number of gaps in `coverage.gaps`. If there are more, the whole window is listed as one unknown gap. */
export const maxGaps = 128;

/** Maximum number of entries in `top_labelers_7d`. */
export const maxTopLabelers = 10;

/**
 * Minimum observed time of a rate of events, in seconds. In less time, single events determine the rate: an event between
 * two silences leaves one observed microsecond, and its rate would be 1,000,000 events per second.
 */
export const minRateSeconds = 1;

/** Default maximum size of an artifact, in bytes: 4 MiB. */
export const defaultMaxArtifactBytes = 4 * 1024 * 1024;
