import type { SignatureVerdict } from '../../../src/contract/vocabulary.ts';
import type { ReceivedLabel } from '../../../src/store/label.ts';
import type { NewObservation } from '../../../src/store/port.ts';
import { openSqliteWriter, type SqliteWriter } from '../../../src/store/sqlite/write/writer.ts';
import { micros } from '../../../src/store/time.ts';
import { rosterRow } from '../../store/roster-row.ts';
import { same } from '../run.ts';
import type { AccountWorld, ModelGap, ModelLabeler, ModelRow } from './account-model.ts';

/** A store with a random history of up to 34 days, and the same history as plain arrays. */

const minute = 60_000_000;
const hour = 60 * minute;
const day = 24 * hour;

/** End of the history: 2026-11-20 12:00:00 UTC, in microseconds. */
export const historyEnd = Date.UTC(2026, 10, 20, 12) * 1000;

const did = (name: string): string => `did:plc:${name.padEnd(24, '2')}`;
export const accounts = [did('often'), did('seldom'), did('once'), 'did:web:account.example.com', did('never')];
export const labelers = [did('reader'), did('slow'), did('left'), 'did:web:labels.example.com'] as const;
/** DIDs in labeler filters without rows: a known labeler that never responded, and one that is not known. */
export const unreadLabelers = [did('never'), did('stranger')] as const;
export const values = ['spam', '!hide', 'größe', 'a b', 'never-said'];
const verdicts: SignatureVerdict[] = ['verified', 'invalid', 'unsigned', 'unverified'];

/** Returns a seeded generator of integers below a bound. */
function numbers(seed: number): (below: number) => number {
  let state = seed >>> 0 || 1;
  return (below) => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state >>> 0) % below;
  };
}

interface HistoryOptions {
  readonly folder: string;
  readonly seed: number;
  /** Age of the store, in days. */
  readonly days: number;
  /** Time between the last accepted page and the end of the history, in microseconds. */
  readonly silentFor: number;
}

/**
 * Writes a history. The model computes the stamps of the rows by the documented rule, and the store must assign the
 * same stamps.
 */
export async function writeWorld({ folder, seed, days, silentFor }: HistoryOptions): Promise<AccountWorld> {
  const startedAt = historyEnd - Math.floor(days * day);
  const next = numbers(seed);
  const store = openSqliteWriter({ folder, at: micros(startedAt) });
  try {
    const rows: ModelRow[] = [];
    let last = 0;
    // Write about forty batches regardless of the age of the store, because each day with a row becomes a file.
    const spacing = Math.floor(days * 86_400 * 0.05);
    const lastAppend = historyEnd - silentFor;
    for (let at = startedAt + next(3600) * 1_000_000; at < lastAppend; at += next(spacing) * 1_000_003) {
      last = await append(store, rows, at, last, next);
    }
    await store.append({ at: micros(lastAppend), observations: [], refusals: [], positions: [] });
    const gaps = gapsOf(startedAt, next);
    for (const gap of gaps) await store.recordGap({ ...gap, ...span(gap) } as never);
    const roster = rosterOf(next);
    await store.putRoster(roster.map((labeler) => rowOf(labeler, startedAt)));
    for (let run = 0; run < 3; run++) await store.maintain(micros(historyEnd + run));
    const { floor, generationId, observedThrough } = await store.frontier();
    same([Number(observedThrough), generationId === ''], [lastAppend, false]);
    return { generationId, startedAt, floor, observedThrough: lastAppend, rows, gaps, labelers: roster };
  } finally {
    await store.close();
  }
}

function span({ start, end }: ModelGap) {
  return { start: micros(start), end: micros(end) };
}

async function append(
  store: SqliteWriter,
  rows: ModelRow[],
  at: number,
  last: number,
  next: (below: number) => number,
): Promise<number> {
  const size = next(12) === 0 ? 60 + next(90) : 1 + next(12);
  const made = Array.from({ length: size }, (_, index) => madeRow(at, rows.length + index, next));
  const observations = made.map(observationOf);
  const { accepted, first } = await store.append({ at: micros(at), observations, refusals: [], positions: [] });
  const stamp = Math.max(at, last + 1);
  same([accepted, Number(first)], [size, stamp]);
  rows.push(...made.map((row, index) => ({ ...row, observedAt: stamp + index })));
  return stamp + size - 1;
}

function madeRow(at: number, nth: number, next: (below: number) => number): ModelRow {
  const account = accounts[[0, 0, 0, 0, 1, 1, 3, nth % 40 === 7 ? 2 : 0][next(8)] ?? 0] ?? '';
  const uris = [account, `at://${account}/app.bsky.feed.post/3k${nth}`, `at://${account}/app.bsky.actor.profile/self`];
  return {
    observedAt: at,
    account,
    labeler: labelers[next(labelers.length)] ?? '',
    uri: [...uris, `at://${account}`][next(4)] ?? account,
    value: values[next(4)] ?? '',
    removed: next(3) === 0,
    // Give each label its own time: equal labels with the same time would be duplicates.
    authored: new Date(at / 1000 - nth).toISOString(),
    cid: next(3) === 0 ? 'bafyreie5cvv4h45feadgeuwhbcutmh6t2ceseocckahdoe6uat64zmz454' : undefined,
    expires: next(5) === 0 ? '2027-01-01T00:00:00Z' : undefined,
    signature: verdicts[next(verdicts.length)] ?? 'unverified',
  };
}

function observationOf(row: ModelRow): NewObservation {
  const label: ReceivedLabel = {
    src: row.labeler,
    uri: row.uri,
    val: row.value,
    cts: row.authored,
    ...(row.removed ? { neg: true } : {}),
    ...(row.cid === undefined ? {} : { cid: row.cid }),
    ...(row.expires === undefined ? {} : { exp: row.expires }),
    sig: new Uint8Array(64).fill(1),
  };
  return { label, signature: row.signature as SignatureVerdict };
}

/**
 * Returns gaps of two labelers and of the instrument. Gaps with the same source and reason never touch, so that the
 * store merges none of them.
 */
function gapsOf(startedAt: number, next: (below: number) => number): ModelGap[] {
  const made: ModelGap[] = [];
  const reasons = ['source_unavailable', 'cursor_reset', 'ingest_paused', 'maintenance'];
  for (const source of [null, labelers[0], labelers[1]]) {
    let at = startedAt + next(2 * 86_400) * 1_000_000;
    for (let nth = 0; nth < 4 && at < historyEnd - 2 * day; nth++) {
      const end = at + minute + next(8 * 3600) * 1_000_000;
      made.push({ source, start: at, end, reason: reasons[nth] ?? 'unknown' });
      at = end + hour + next(9 * 86_400) * 1_000_000;
    }
  }
  return made;
}

function rosterOf(next: (below: number) => number): ModelLabeler[] {
  const state = next(2) === 0 ? 'established' : 'probing';
  return [
    { did: labelers[0], state: 'established', leftAt: null, wasRead: true },
    { did: labelers[1], state, leftAt: null, wasRead: true },
    {
      did: labelers[2],
      state: 'established',
      leftAt: historyEnd - 3 * day - next(5 * 86_400) * 1_000_000,
      wasRead: true,
    },
    { did: labelers[3], state: 'established', leftAt: null, wasRead: true },
    // Enrolled only if the status is unknown anyway, so that the other histories show the other statuses.
    {
      did: unreadLabelers[0],
      state: 'unstarted',
      leftAt: state === 'probing' ? null : historyEnd - day,
      wasRead: false,
    },
  ];
}

function rowOf({ did: labeler, state, leftAt, wasRead }: ModelLabeler, at: number) {
  const last = wasRead ? micros(leftAt ?? historyEnd) : null;
  const times = { stateSince: micros(at), lastAnswered: last, completeThrough: last };
  return rosterRow(labeler, { enrolled: leftAt === null, state, ...times });
}
