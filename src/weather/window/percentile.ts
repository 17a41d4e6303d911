/** Returns the `p` quantile (0 to 1) of sorted values, linearly interpolated. Returns NaN if there are no values. */
export function percentile(sorted: Float64Array, p: number): number {
  const at = p * (sorted.length - 1);
  const low = sorted[Math.floor(at)] ?? Number.NaN;
  const high = sorted[Math.ceil(at)] ?? Number.NaN;
  return low + (high - low) * (at - Math.floor(at));
}

/** Returns the standard deviation divided by the mean, a measure of unevenness, or null if the mean is 0. */
export function variation(values: readonly number[]): number | null {
  const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
  if (!(mean > 0)) return null;
  return Math.sqrt(values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length) / mean;
}
