import { createSim, type Sim } from '../../sim/index.ts';
import { accountOf, labelKey, verdict } from '../../sim/labelers/truth.ts';
import type { Observation, StoreReader } from '../../src/store/port.ts';
import { scanAccount, wholeSpan } from '../store/scan.ts';
import type { Downtime } from './instrument.ts';

/**
 * Of this number of labelers, one has no stream. Such a labeler is polled, so its labels are accepted later than
 * streamed labels.
 */
const polledEvery = 20;
/** Time after a start during which streams are opened one after another, in milliseconds. */
const settlingMs = 5_000;

/**
 * Creates a network of honest labelers with the given total number of labels per second. Each labeler has its own
 * loopback address.
 */
export function honestNetwork(seed: number, labelers: number, labelRate: number): Sim {
  return createSim({
    ...{ seed, labelers, labelRate, relays: 1, rate: 1, historyHours: 0 },
    labelerHost: (index) => `127.20.${Math.floor(index / 250)}.${(index % 250) + 1}`,
    shapeLabeler: ({ index }) => ({
      // Seed seven of ten labelers. The instrument must discover the others.
      seeded: index % 10 < 7,
      ailment: index % polledEvery === polledEvery - 5 ? 'no_stream' : 'none',
    }),
  });
}

/** Distribution of the delays with which labels were accepted, in seconds. */
export interface Lag {
  readonly labels: number;
  readonly p50: number;
  readonly p99: number;
  readonly max: number;
}

/** Result of comparing the honest labels with the stored rows. */
export interface HonestRows {
  /** Number of emitted labels that could be stored. */
  readonly emitted: number;
  /** Number of these labels that were stored. */
  readonly stored: number;
  /** Number of labels that were not stored although their labelers still serve them. */
  readonly lost: number;
  /** Number of labels that were replaced by their labelers before they were stored. */
  readonly replaced: number;
  /** Number of surplus rows: stored twice, or never sent by any labeler. */
  readonly surplus: number;
  /** Delays of streamed labels emitted during the attack while the instrument was running. */
  readonly streamed: Lag;
  /** Delays of polled labels emitted during the attack while the instrument was running. */
  readonly polled: Lag;
  /** Delays of labels emitted before the attack, for comparison. */
  readonly before: Lag;
  /** Delays of labels emitted after the attack. */
  readonly after: Lag;
  /**
   * Descriptions of the lost labels of at most ten labelers: their number, and the times of the first and the last
   * lost label.
   */
  readonly losers: readonly string[];
}

/** Times of the attack and of the downtimes, in milliseconds of the wall clock. They determine the phase of a label. */
export interface Spans {
  readonly attackFromMs: number;
  readonly attackToMs: number;
  readonly downtimes: readonly Downtime[];
}

interface Due {
  readonly labeler: string;
  readonly emittedUs: number;
  /**
   * True if an account-replacing labeler no longer serves the label. An instrument that was stopped when the label was
   * emitted can no longer read it.
   */
  readonly replaced: boolean;
}

/** Returns the labels that were emitted within an interval and can be stored by now, keyed by label identity. */
function dueLabels({ labelers }: Sim, epochUs: number, fromUs = epochUs, toUs?: number): Map<string, Due> {
  const due = new Map<string, Due>();
  for (const one of labelers.truth.emitted(fromUs, toUs)) {
    if (verdict(one, epochUs, one.emittedUs) !== null) continue;
    const { profile, log, edge } = labelers.of(one.labeler);
    const replaced = profile.software === 'ozone' && log.replaced(one.n, edge);
    const key = labelKey(one.label);
    if (!due.has(key)) due.set(key, { labeler: one.labeler, emittedUs: one.emittedUs, replaced });
  }
  return due;
}

/** Returns true if the store counts at least the expected number of rows for each honest labeler. */
export async function areAllCounted(sim: Sim, store: StoreReader): Promise<boolean> {
  const { startedAt: start } = await store.epoch();
  const { end } = await store.frontier();
  const stored = new Map(
    (await store.countsByLabeler({ start, end })).map((row) => [row.labeler, row.applied + row.removed]),
  );
  const due = new Map<string, number>();
  for (const { labeler, replaced } of dueLabels(sim, start).values()) {
    if (!replaced) due.set(labeler, (due.get(labeler) ?? 0) + 1);
  }
  return [...due].every(([did, count]) => (stored.get(did) ?? 0) >= count);
}

/** Returns true if every honest label emitted within an interval is stored or has been replaced. */
export async function areStored(sim: Sim, store: StoreReader, fromUs: number, toUs: number): Promise<boolean> {
  const { startedAt } = await store.epoch();
  const due = dueLabels(sim, startedAt, fromUs, toUs);
  for await (const rows of rowsAbout(due, store)) for (const { label } of rows) due.delete(labelKey(label));
  return [...due.values()].every(({ replaced }) => replaced);
}

/** Yields the stored rows of all accounts that are due, in chunks. */
async function* rowsAbout(due: ReadonlyMap<string, Due>, store: StoreReader): AsyncGenerator<readonly Observation[]> {
  const span = await wholeSpan(store);
  for (const account of accountsOf(due)) yield* scanAccount(store, { account, ...span, order: 'oldest' }, 1e7);
}

function accountsOf(due: ReadonlyMap<string, Due>): Set<string> {
  return new Set([...due.keys()].map((key) => accountOf((JSON.parse(key) as string[])[1] ?? '')));
}

/** Compares every honest row of a store with the network's record. */
export async function judgeRows(sim: Sim, store: StoreReader, spans: Spans): Promise<HonestRows> {
  const { startedAt } = await store.epoch();
  const due = dueLabels(sim, startedAt);
  const honest = new Set(sim.labelers.list.map(({ did }) => did));
  const polled = new Set(sim.labelers.list.filter(({ profile }) => profile.ailment !== 'none').map(({ did }) => did));
  const lags = { streamed: [] as number[], polled: [] as number[], before: [] as number[], after: [] as number[] };
  const met = new Set<string>();
  let surplus = 0;
  for await (const rows of rowsAbout(due, store)) {
    for (const { label, observedAt } of rows) {
      if (!honest.has(label.src)) continue;
      const key = labelKey(label);
      const one = due.get(key);
      if (one === undefined || met.has(key)) {
        surplus += 1;
        continue;
      }
      met.add(key);
      const when = spanOf(one.emittedUs / 1000, spans);
      if (when === null) continue;
      const way = when === 'during' ? (polled.has(label.src) ? 'polled' : 'streamed') : when;
      // Use polled labels only during the attack: in every phase, they can be late by one polling interval.
      if (when === 'during' || !polled.has(label.src)) lags[way].push((observedAt - one.emittedUs) / 1e6);
    }
  }
  const losses = new Map<string, number[]>();
  let [lost, gone] = [0, 0];
  for (const [key, { labeler, emittedUs, replaced }] of due) {
    if (met.has(key)) continue;
    if (replaced) gone += 1;
    else {
      lost += 1;
      losses.set(labeler, [...(losses.get(labeler) ?? []), emittedUs]);
    }
  }
  return {
    emitted: due.size,
    stored: met.size,
    lost,
    replaced: gone,
    surplus,
    streamed: lagOf(lags.streamed),
    polled: lagOf(lags.polled),
    before: lagOf(lags.before),
    after: lagOf(lags.after),
    losers: [...losses].slice(0, 10).map(([did, times]) => {
      const [first = 0, last = first] = [times[0], times.at(-1)];
      return `${times.length} of ${did} (emitted ${timeOf(first)} to ${timeOf(last)})`;
    }),
  };
}

function timeOf(us: number): string {
  return new Date(us / 1000).toISOString().slice(11, 23);
}

function spanOf(ms: number, { attackFromMs, attackToMs, downtimes }: Spans): 'before' | 'during' | 'after' | null {
  if (downtimes.some(({ fromMs, toMs }) => ms >= fromMs - 1_000 && ms < toMs + settlingMs)) return null;
  if (ms < attackFromMs) return 'before';
  return ms < attackToMs ? 'during' : 'after';
}

function lagOf(seconds: number[]): Lag {
  const sorted = seconds.sort((one, other) => one - other);
  const at = (share: number): number => sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? 0;
  return { labels: sorted.length, p50: at(0.5), p99: at(0.99), max: sorted.at(-1) ?? 0 };
}
