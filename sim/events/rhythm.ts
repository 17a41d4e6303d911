import { fraction } from '../random.ts';

/** First sequence number, high enough that all sequence numbers have 15 digits at any event rate. */
const firstSeq = 100_000_000_000_000;
/** UTC second of the oldest possible event (2020-01-01T00:00:00Z). */
export const epochSecond = 1_577_836_800;
const day = 86_400;

/**
 * Rate of the traffic over time, as a non-decreasing function that returns the number of the first event in any second.
 * The function has a closed form, so any past second can be computed without counting earlier events. The rate consists
 * of a daily wave, slower and faster waves with phases derived from the seed, and noise per minute and per second.
 */
export interface Rhythm {
  /** Returns the sequence number of the first event at or after the start of a UTC second. */
  seqAt(second: number): number;
  /** Returns the UTC second in which an event occurs. */
  secondOf(seq: number): number;
}

/** Creates the rate function for a seed. `rate` is the mean rate in events per second. */
export function createRhythm(seed: number, rate: number): Rhythm {
  const waves = [
    { period: day, depth: 0.3, phase: -0.55 * 2 * Math.PI },
    { period: 5.13 * 3600, depth: 0.05, phase: fraction(seed, 1) * 2 * Math.PI },
    { period: 43.7 * 60, depth: 0.03, phase: fraction(seed, 2) * 2 * Math.PI },
    { period: 7.3 * 60, depth: 0.03, phase: fraction(seed, 3) * 2 * Math.PI },
  ];
  // The amplitudes are bounded so that the function always increases: the waves lower the rate by at most 41 % of its
  // mean, the noise per minute by 5 %, and the noise per second by 20 %.
  const minuteNoise = 3 * rate;
  const secondNoise = Math.min(Math.sqrt(rate), 0.2 * rate);

  function seqAt(second: number): number {
    const at = second - epochSecond;
    let sum = rate * at;
    for (const { period, depth, phase } of waves) {
      const turn = (2 * Math.PI) / period;
      sum -= ((rate * depth) / turn) * Math.cos(turn * (at % period) + phase);
    }
    const minute = Math.floor(second / 60);
    const before = fraction(seed, 4, minute);
    const after = fraction(seed, 4, minute + 1);
    sum += minuteNoise * (before + ((after - before) * (second - minute * 60)) / 60);
    sum += secondNoise * fraction(seed, 5, second);
    return firstSeq + Math.floor(sum);
  }

  return {
    seqAt,
    secondOf(seq) {
      let low = epochSecond;
      let high = low + Math.ceil((seq - firstSeq) / (0.25 * rate)) + day;
      while (high - low > 1) {
        const middle = Math.floor((low + high) / 2);
        if (seqAt(middle) <= seq) low = middle;
        else high = middle;
      }
      return low;
    },
  };
}
