/** Maximum number of enrolled labelers that are read at once. */
export const labelerLimits = {
  /** Value of the setting by default. */
  default: 5_000,
  /** Highest value that was measured; see `docs/scale.md`. */
  highest: 10_000,
};
