import { setImmediate as nextTurn } from 'node:timers/promises';
import type { Sim } from '../../../sim/index.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import type { OddKind } from '../../../sim/labelers/odd-labels.ts';
import type { Micros } from '../../contract/timestamp.ts';
import type { SignatureVerdict } from '../../contract/vocabulary.ts';
import { type AdmissionReason, admit } from '../../labels/ingest/admission.ts';
import { split } from '../../labels/ingest/ports.ts';
import { markOf } from '../../labels/reading/pages.ts';
import { writePosition } from '../../labels/state/reading-events.ts';
import { type ReceivedLabel, splitUri, targetOf } from '../../store/label.ts';
import { openStoreWriter } from '../../store/open.ts';
import { claimOrigin } from '../../store/origin.ts';
import type { NewObservation, PositionChange, StoreWriter } from '../../store/port.ts';
import type { RosterRow } from '../../store/roster.ts';
import { day, hour, micros, minute, second } from '../../store/time.ts';
import { opened } from '../labels/labels-action.ts';

/** Age of the epoch, in microseconds. It is shorter than the window, so that the window includes a warm-up. */
export const epochAge = 23 * day + 7 * hour;
/**
 * Interval between pages in the history, in microseconds. Pages end one second before a full interval of the clock, so
 * that the labels of an hour are accepted in that hour.
 */
const pageEvery = 10 * minute;
const beforeFull = second;
/** Times without observation, in microseconds before the end of the history. */
const interruptions = [
  { start: 19 * day + 3 * hour, end: 19 * day + 2 * hour, reason: 'maintenance' },
  { start: 8 * day + 11 * hour, end: 8 * day + 6 * hour, reason: 'ingest_paused' },
] as const;
/** Time in microseconds before the end of the history at which the unreachable labelers began to fail. */
const deadFor = 31 * hour;

/** Options for writing a label history. */
interface LabelHistory {
  /** A new store whose epoch began `epochAge` before the end. */
  readonly store: StoreWriter;
  /** The simulated labelers, which are already listening. */
  readonly labelers: Sim['labelers'];
  /** End of the history, at which the instrument continues. */
  readonly end: Micros;
  /** Aborts the writing between two pages; without it, writing cannot be aborted. */
  readonly signal?: AbortSignal;
}

/** Writes the history into a new store. Resolves with sample accounts, or null if the signal aborts. */
export async function writeNewHistory(
  { labelers }: Sim,
  url: string,
  signal: AbortSignal,
): Promise<SampleAccount[] | null> {
  const end = micros(Date.now() * 1000);
  const store = await opened(url, () => openStoreWriter(url, { at: micros(end - epochAge), durable: false }));
  try {
    await claimOrigin(store, 'simulated');
    return (await writeLabelHistory({ store, labelers, end, signal })).choose();
  } catch (error) {
    if (signal.aborted && error === signal.reason) return null;
    throw error;
  } finally {
    await store.close();
  }
}

/** A labeler and the progress of reading it. */
interface Reading {
  readonly labeler: Labeler;
  /** Number of labels read. */
  read: number;
  /** Time of the labeler's last response, or null for a labeler that never responded. */
  readonly until: Micros | null;
}

/**
 * Writes the data that a running instrument would have stored: the labels that it would have accepted and refused by
 * its rules, its interruptions and the labels read after each interruption, its roster and its positions. Resolves
 * with sample accounts. Rejects with the reason of the signal if it aborts.
 */
export async function writeLabelHistory({ store, labelers, end, signal }: LabelHistory): Promise<SampleAccounts> {
  const { startedAt } = await store.epoch();
  const samples = sampleAccounts();
  const readings = labelers.list.map((labeler): Reading => {
    const until = lastAnswer(labeler, end);
    return { labeler, read: labeler.log.pace.edge(startedAt - 1), until };
  });
  const accept = async (at: number): Promise<void> => {
    await nextTurn();
    signal?.throwIfAborted();
    await acceptPages({ store, readings, epoch: startedAt, at: micros(at), samples });
  };
  let from: number = startedAt;
  for (const { reason, ...before } of interruptions) {
    const gap = { start: micros(end - before.start), end: micros(end - before.end) };
    for (const at of pagesBetween(from, gap.start - beforeFull)) await accept(at);
    await store.recordGap({ source: null, ...gap, reason });
    await accept(gap.end);
    from = gap.end;
  }
  for (const at of pagesBetween(from, end)) await accept(at);
  await store.append({ at: end, observations: [], refusals: [], positions: positionsOf(readings, end) });
  await store.putRoster(readings.map((reading) => rosterRow(reading, startedAt)));
  for (const { labeler, until } of readings) {
    if (until === null || until === end) continue;
    await store.recordGap({ source: labeler.did, start: until, end, reason: 'source_unavailable' });
  }
  await store.beat(end);
  return samples;
}

/** Returns the times of the pages after `from`; the last one is `until`. */
function* pagesBetween(from: number, until: number): Generator<number> {
  let at = (Math.floor((from + beforeFull) / pageEvery) + 1) * pageEvery - beforeFull;
  for (; at < until; at += pageEvery) yield at;
  yield until;
}

function lastAnswer({ profile: { ailment } }: Labeler, end: Micros): Micros | null {
  if (ailment === 'none' || ailment === 'no_stream' || ailment === 'no_query') return end;
  return ailment === 'dead' ? micros(end - deadFor) : null;
}

interface PagesOfAll {
  readonly store: StoreWriter;
  readonly readings: readonly Reading[];
  readonly epoch: Micros;
  readonly at: Micros;
  readonly samples: SampleAccounts;
}

/** Accepts all labels of all labelers that are due at the time `at`. */
async function acceptPages({ store, readings, epoch, at, samples }: PagesOfAll): Promise<void> {
  const observations: NewObservation[] = [];
  const refused = new Map<string, { source: string; reason: AdmissionReason; count: number }>();
  for (const reading of readings) {
    const { labeler, until } = reading;
    if (until === null) continue;
    const edge = labeler.log.pace.edge(Math.min(at, until));
    for (let n = reading.read + 1; n <= edge; n++) {
      // Skip a label that was replaced since the last page, because an account-replacing labeler no longer serves it.
      if (labeler.profile.software === 'ozone' && labeler.log.replaced(n, edge)) continue;
      labeler.served.add({ from: n, to: n + 1 });
      const admission = admit(labeler.serve(n), { source: labeler.did, since: epoch, now: at });
      if (admission.kind === 'refused') {
        const { reason } = admission;
        const key = `${labeler.did} ${reason}`;
        refused.set(key, { source: labeler.did, reason, count: (refused.get(key)?.count ?? 0) + 1 });
        continue;
      }
      observations.push({ label: admission.label, signature: verdictOf(labeler.log.oddity(n)) });
      samples.add(admission.label);
    }
    reading.read = edge;
  }
  const page = { source: '', observations, refusals: [...refused.values()], positions: [], clockGeneration: 0 };
  for (const { observations, refusals, positions } of split(page)) {
    await store.append({ at, observations, refusals, positions });
  }
}

/**
 * Returns the result of the signature check: simulated labelers sign every label correctly, except labels with a
 * signature fault.
 */
function verdictOf(odd: OddKind | null): SignatureVerdict {
  if (odd === 'unsigned') return 'unsigned';
  return odd === 'bad_signature' || odd === 'high_s' ? 'invalid' : 'verified';
}

function positionsOf(readings: readonly Reading[], end: Micros): PositionChange[] {
  return readings
    .filter(({ read, until }) => read > 0 && until === end)
    .map(({ labeler, read }) => {
      const tail = markOf(labeler.serve(read));
      const cursor = labeler.database.seqOf(read);
      const seq = labeler.profile.ailment === 'no_stream' ? null : cursor;
      const value = writePosition({ seq, seqTail: seq === null ? null : tail, cursor, cursorTail: tail });
      return { source: labeler.did, endpoint: labeler.endpoint, value };
    });
}

function rosterRow({ labeler, until, read }: Reading, startedAt: Micros): RosterRow {
  const { did, endpoint, profile } = labeler;
  return {
    ...{ did, endpoint, resolutionStatus: 'labeler', handle: null },
    origin: profile.seeded ? 'seeded' : 'discovered',
    provenance: [profile.seeded ? 'seeds' : profile.relays.length > 0 ? 'relay 127.0.0.1' : 'jetstream'],
    // A labeler that never responded has failed its trial long before the end.
    enrolled: until !== null,
    state: until === null ? 'refused' : profile.ailment === 'dead' ? 'unavailable' : 'established',
    stateSince: until ?? startedAt,
    firstAsked: startedAt,
    firstAnswered: until === null ? null : startedAt,
    lastAnswered: until,
    failingSince: null,
    completeThrough: until,
    dated: read > 0,
    undated: false,
  };
}

/** An account of the simulated network whose labels show features of the account page. */
export interface SampleAccount {
  readonly did: string;
  /** Description of what the account's labels show. */
  readonly shows: string;
}

/** Selects, from a history, the accounts whose labels are worth showing. */
interface SampleAccounts {
  /** Counts an accepted label. */
  add(label: Pick<ReceivedLabel, 'uri' | 'src' | 'neg'>): void;
  /** Returns one account of each kind that exists. The first account shows every feature of an account page. */
  choose(): SampleAccount[];
}

interface Seen {
  readonly did: string;
  account: number;
  post: number;
  record: number;
  removed: number;
  readonly labelers: Set<string>;
}

/**
 * Kinds of sample accounts, in the order in which they are chosen. The representative of a kind is the account with
 * the largest value of `most` among those for which `has` returns true. No account represents two kinds.
 */
const kinds: readonly { readonly shows: string; has(seen: Seen): boolean; most(seen: Seen): number }[] = [
  {
    shows: 'labels on the account itself and on posts, and a removal',
    has: ({ account, post, removed }) => account > 0 && post > 0 && removed > 0,
    most: ({ account, post, record }) => Math.min(account, 5) * 1e6 + Math.min(record, 1) * 1e5 + post,
  },
  { shows: 'many labels on posts', has: ({ post }) => post > 20, most: ({ post }) => post },
  {
    shows: 'labels of several labelers',
    has: ({ labelers }) => labelers.size > 1,
    most: ({ labelers, account, post, record }) => labelers.size * 1e6 - account - post - record,
  },
];

/** A DID that has no labels, because no generated DID has this form. */
const unlabelled = 'did:plc:nobodyeverlabelledthisac';

/** Creates an empty selection. Its memory grows with the number of accounts. */
function sampleAccounts(): SampleAccounts {
  const seen = new Map<string, Seen>();
  return {
    add({ uri, src, neg }) {
      const did = splitUri(uri)?.did;
      if (did === undefined) return;
      const counts = seen.get(did) ?? { did, account: 0, post: 0, record: 0, removed: 0, labelers: new Set() };
      counts[targetOf(uri)] += 1;
      if (neg) counts.removed += 1;
      counts.labelers.add(src);
      seen.set(did, counts);
    },
    choose() {
      const chosen: SampleAccount[] = [];
      for (const { shows, has, most } of kinds) {
        const left = [...seen.values()].filter((one) => has(one) && !chosen.some(({ did }) => did === one.did));
        const [best] = left.sort((one, other) => most(other) - most(one) || (one.did < other.did ? -1 : 1));
        if (best) chosen.push({ did: best.did, shows });
      }
      return [...chosen, { did: unlabelled, shows: 'none observed' }];
    },
  };
}
