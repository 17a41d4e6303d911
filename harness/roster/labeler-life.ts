import type { Dice } from '../../sim/random.ts';
import { day, hour, minute } from '../../src/store/time.ts';

/** An outage, in microseconds since the start of a simulation. */
interface Outage {
  readonly from: number;
  readonly until: number;
}

/** Outages of a labeler during a simulation. */
export interface Life {
  readonly kind: 'steady' | 'flapping' | 'dying' | 'refusing' | 'absent';
  /** Outages in order, separated by uptime. */
  readonly outages: readonly Outage[];
}

/**
 * Shares of the labelers that have each kind of outage within 30 days. They approximate two observations. In one, 6 of
 * 405 polls of 135 labelers failed. In the other, 17 % of the labelers that had been active no longer responded, both
 * seven months and two years after the first labelers started.
 */
const shares = {
  /** Share of labelers that are unreachable for a quarter of the time. */
  flapping: 0.05,
  /** Share of labelers that stop responding permanently. */
  dying: 0.015,
  /** Share of labelers that permanently respond with 401 from a random time onwards. */
  refusing: 0.005,
  /** Share of labelers that do not respond for 9 to 12 days. */
  absent: 0.005,
} as const;

/** Parameters of random outages. */
interface Pattern {
  /** Mean time between two outages, in microseconds. */
  readonly up: number;
  /** Mean duration of an outage, in microseconds. */
  readonly down: number;
}
const steady: Pattern = { up: 12 * hour, down: 10 * minute };
const flapping: Pattern = { up: 6 * hour, down: 2 * hour };

/** Returns the outages of `count` labelers over 30 days. */
export function drawLives(count: number, dice: Dice): Life[] {
  const end = 30 * day;
  const some = (share: number): readonly null[] => Array.from({ length: Math.round(share * count) }, () => null);
  const within = (from: number, to: number): number => from + fraction(dice) * (to - from);
  const forever = (): Outage => ({ from: within(0, end), until: Number.POSITIVE_INFINITY });
  const absence = (): Outage => {
    const from = within(0, end - 13 * day);
    return { from, until: from + within(9 * day, 12 * day) };
  };
  const known: Life[] = [
    ...some(shares.flapping).map(() => ({ kind: 'flapping' as const, outages: draw(flapping, end, dice) })),
    ...some(shares.dying).map(() => ({ kind: 'dying' as const, outages: draw(steady, end, dice, forever()) })),
    ...some(shares.refusing).map(() => ({ kind: 'refusing' as const, outages: draw(steady, end, dice, forever()) })),
    ...some(shares.absent).map(() => ({ kind: 'absent' as const, outages: draw(steady, end, dice, absence()) })),
  ];
  const rest = Array.from({ length: count - known.length }, () => ({
    kind: 'steady' as const,
    outages: draw(steady, end, dice),
  }));
  return dice.shuffled([...known, ...rest]);
}

/** Returns random outages with the given means. `long` is added, and replaces all outages that overlap with it. */
function draw({ up, down }: Pattern, end: number, dice: Dice, long: Outage | null = null): Outage[] {
  const outages: Outage[] = [];
  for (let from = exponential(up, dice); from < end; from += exponential(up, dice)) {
    const until = from + exponential(down, dice);
    if (long === null || until < long.from || from > long.until) outages.push({ from, until });
    from = until;
  }
  return [...outages, ...(long === null ? [] : [long])].sort((a, b) => a.from - b.from);
}

function exponential(mean: number, dice: Dice): number {
  return -mean * Math.log(1 - fraction(dice));
}

/** Returns a number in [0, 1). */
export function fraction(dice: Dice): number {
  return dice.below(1_000_000) / 1_000_000;
}
