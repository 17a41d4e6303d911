import type { Micros } from '../contract/timestamp.ts';
import type { ByteAccount } from '../input/decoded-bytes.ts';
import { parseAuthored } from './authored-time.ts';
import { beginsToRead, type Unread } from './catch-up.ts';
import { isShuffled, type SampledPage, searchCursor } from './cursor-search.ts';
import type { SourceFault } from './faults.ts';
import { fingerprint } from './fingerprint.ts';
import type { SourceIntake } from './intake.ts';
import { isObject } from './label-fields.ts';
import { fateOf, fingerprintIn, markOf } from './last-row.ts';
import { noPosition, type ReadPosition } from './position.ts';
import { decimal, type LabelPage, type PageOptions, pageLimit } from './query-labels.ts';
import { type Asker, askPage, rowAt } from './row-at.ts';
import { fillTarget, type ReaderTools, type Source, unreadSince } from './source.ts';
import { untilReadable } from './throttle.ts';

/** Result of reading a source's pages to their end. */
export type RoundOutcome =
  /** Everything that it had when the round began is stored. */
  | { readonly kind: 'quiet'; readonly rows: number }
  | ({ readonly kind: 'fault' } & SourceFault)
  /** What was last read is gone, and nothing replaced it: the labeler began anew, and so must we. */
  | { readonly kind: 'reset' };

/**
 * Reads a source's pages from its position to their end: the rule of polling, of filling in what lies before a stream's
 * first frame, and of confirming that a quiet stream is quiet. What may be the last page is asked for from one row before,
 * so that it shows whether the last row that was read is still there. `before`: what was not known of the source when all
 * this began.
 */
export async function pollRound(
  source: Source,
  intake: SourceIntake,
  tools: ReaderTools,
  { before, signal }: { readonly before: Unread; readonly signal: AbortSignal },
): Promise<RoundOutcome> {
  const memory = tools.memory.decoded.open();
  try {
    return await readRound({ source, intake, tools, memory, signal }, before);
  } finally {
    memory.release();
  }
}

async function readRound(round: Round, before: Unread): Promise<RoundOutcome> {
  const { source, intake, tools, memory, signal } = round;
  const found = source.position.cursor === null ? await findStart(round) : null;
  if (found?.kind === 'fault') return found;
  const start = found?.cursor ?? source.position.cursor ?? 0;
  /** The page that the search showed to be the first one. */
  let sampled = found?.page ?? null;
  const { cursor: known, cursorTail } = source.position;
  /** The last row that was read, which the next page has to show. */
  let last = known !== null && cursorTail !== null && looks(round) ? { mark: cursorTail, number: known } : null;
  let cursor = last === null ? start : start - 1;
  let rows = 0;
  while (!signal.aborted) {
    // What the last page gave is stored.
    if (sampled === null) memory.release();
    const { page, limit } = sampled ?? (await ask(round, cursor));
    sampled = null;
    if (page.kind === 'fault') return page;
    if (rows === 0) await beginsToRead(source, tools, before);
    let fresh = page.labels.filter((row) => !source.unplaced.has(fingerprint(row)));
    const full = page.labels.length >= limit;
    const shuffled = isShuffled(page.labels.map(authoredOf));
    if (last !== null) {
      const { mark } = last;
      // A full page without an order leaves out any row.
      const lost = full && shuffled ? null : await lookForLast(round, page, { ...last, full });
      if (lost !== null) return lost;
      fresh = fresh.filter((row) => fingerprint(row) !== fingerprintIn(mark));
      last = null;
    }
    const next = nextCursor(page, cursor, tools);
    // A full page of known rows is no end: what lies beyond is behind its cursor, or nobody knows it.
    if (fresh.length === 0 && full) {
      if (next === null) return unverified();
      cursor = next;
      continue;
    }
    if (fresh.length === 0) {
      await intake.take({ rows: [], way: 'poll', move: (now) => ({ ...now, cursor: now.cursor ?? start }) }, signal);
      return { kind: 'quiet', rows };
    }
    if (shuffled) tools.telemetry.quirk('unordered_page');
    const moves = next !== null && !shuffled;
    const mark = markOf(page.labels.at(-1));
    const { lastPage } = source;
    const again = lastPage === null || fresh.some((row) => lastPage.has(digitsOf(row)));
    await intake.take(
      {
        rows: fresh,
        ...{ way: 'poll', again },
        move: (position) =>
          moves ? moved(source, position, next, mark) : { ...position, cursor: position.cursor ?? start },
      },
      signal,
    );
    rows += fresh.length;
    source.lastPage = new Set(page.labels.map(digitsOf));
    source.unplaced = moves ? new Set() : new Set(page.labels.map(fingerprint));
    // A short page contained all remaining rows, in any order; after a full one there may be more.
    if (!moves) return full ? unverified() : { kind: 'quiet', rows };
    // Behind a full page lies what was there with it; behind a short one, what came since.
    last = !full && looks(round) ? { mark, number: next } : null;
    cursor = last === null ? next : next - 1;
  }
  return { kind: 'fault', fault: null, why: 'stopped', retryAfterMs: null };
}

interface Round extends Asker {
  readonly intake: SourceIntake;
  /** Holds the memory of the pages that are decoded and not yet stored. */
  readonly memory: ByteAccount;
}

interface Asked<Page = LabelPage | ({ readonly kind: 'fault' } & SourceFault)> {
  readonly page: Page;
  /** Number of requested labels. */
  readonly limit: number;
  /** Memory that it takes. */
  readonly cost: number;
}

/** Asks for a page. Huge labels must not stop their source: in smaller pages they can be read, and are refused. */
async function ask({ source, tools, memory, signal }: Round, cursor: number): Promise<Asked> {
  for (let limit = pageLimit; ; limit = Math.max(1, Math.floor(limit / 16))) {
    // A labeler whose pages never end is read no faster than its share, also where none of them is new.
    await untilReadable(source, tools, signal);
    let cost = 0;
    const admit: PageOptions['admit'] = async (decodedBytes, length) => {
      const outcome = await memory.take(decodedBytes, signal, length);
      if (outcome === 'taken') cost = decodedBytes;
      return outcome;
    };
    const page = await askPage({ source, tools, signal }, cursor, { limit, large: limit === 1, admit });
    if (page.kind === 'fault') memory.release(cost);
    if (page.kind === 'fault' && page.why === 'too_large' && limit > 1) continue;
    if (page.kind === 'page') {
      if (page.date !== null) tools.heardTime(page.date);
      tools.telemetry.page('poll');
      tools.pace.charge(source.did, {
        bytes: page.labels.length * meanJsonBytes,
        cpuMs: pageCpuMs(page.labels.length),
      });
    } else if (page.why === 'busy') tools.telemetry.hostFull('poll');
    return { page, limit, cost };
  }
}

/** What a row of a page takes in the mean, and what reading it costs here before it is judged, as measured. */
const meanJsonBytes = 400;

function pageCpuMs(rows: number): number {
  return 0.5 + rows * 0.04;
}

/** Memory of the pages that a search keeps. What it does not keep is read again in its turn. */
const maxSampledMemory = 4 * 1024 * 1024;

interface Start {
  readonly kind: 'start';
  readonly cursor: number;
  /** The page after it. */
  readonly page: Asked<LabelPage> | null;
}

/** The cursor to begin with where none is known; a fault where the pages do not show one. */
async function findStart(round: Round): Promise<Start | ({ readonly kind: 'fault' } & SourceFault)> {
  const { source, intake, tools, signal } = round;
  const pages = new Map<number, Asked<LabelPage>>();
  /** Pages of the samples, including those that were too large to keep. */
  const seen = new Map<number, SampledPage & { readonly limit: number }>();
  const failed: { fault: SourceFault | null } = { fault: null };
  const read = async (cursor: number): Promise<SampledPage & { readonly limit: number }> => {
    const known = seen.get(cursor);
    if (known) return known;
    const { page, limit, cost } = await ask(round, cursor);
    if (page.kind === 'fault') {
      failed.fault = page;
      throw new Error('the cursor search ends here');
    }
    const found = { authored: page.labels.map(authoredOf), cursor: decimal(page.cursor), limit };
    seen.set(cursor, found);
    if (round.memory.held <= maxSampledMemory) pages.set(cursor, { page, limit, cost });
    else round.memory.release(cost);
    return found;
  };
  const start = async (cursor: number): Promise<Start> => {
    const page = pages.get(cursor) ?? null;
    pages.delete(cursor);
    for (const { page } of pages.values()) await intake.keep(page.labels, signal);
    return { kind: 'start', cursor, page };
  };
  try {
    const first = await read(0);
    const count = first.authored.length;
    // A short page without a next page contains everything: there is nothing to search.
    if (count < first.limit && (first.cursor === null || (await read(first.cursor)).authored.length === 0))
      return await start(0);
    const target = fillTarget(tools.epoch, tools.clock());
    const found = await searchCursor(target, read);
    if (found.kind === 'found') return await start(found.cursor);
    tools.log.info('the pages of a labeler are not in order', { labeler: source.did, why: found.why });
    return unverified();
  } catch (error) {
    if (failed.fault) return { kind: 'fault', ...failed.fault };
    throw error;
  }
}

/** Looks that miss the last row, one after the other, before it is looked for once an hour. */
const mostMissedLooks = 2;

/** Whether the last row is looked for now. A labeler that never shows it again has pages of another kind. */
function looks({ source: { missedLooks }, tools: { clock, rhythm } }: Round): boolean {
  return (
    missedLooks === null || missedLooks.count < mostMissedLooks || clock() - missedLooks.at >= rhythm.tailMs * 1000
  );
}

/** Looks in a page for the last row that was read. Null when reading goes on: it is there, or what it may have cost is a gap. */
async function lookForLast(
  round: Round,
  { labels }: LabelPage,
  { mark, number, full }: { readonly mark: string; readonly number: number; readonly full: boolean },
): Promise<{ readonly kind: 'reset' } | ({ readonly kind: 'fault' } & SourceFault) | null> {
  const { source, intake, tools } = round;
  const sight = { labels, isRest: !full, underNumber: null };
  let fate = fateOf(mark, sight);
  if (fate !== 'there' && labels.length > 0) {
    const row = await rowAt(round, number);
    // Retry when the look-up fails; skipping it could lose a row.
    if (row.kind === 'fault') return row;
    fate = fateOf(mark, { ...sight, underNumber: row.kind === 'row' ? row.fingerprint : null });
  }
  if (fate === 'there' || fate === 'replaced') {
    source.missedLooks = null;
    return null;
  }
  source.missedLooks = { count: (source.missedLooks?.count ?? 0) + 1, at: tools.clock() };
  tools.telemetry.quirk('tail_missing');
  await recordReset(source, tools);
  if (fate === 'unknown') return null;
  await forgetPosition(source, intake);
  return { kind: 'reset' };
}

/** Forgets the position after a reset of the labeler's database. */
export async function forgetPosition(source: Source, intake: SourceIntake): Promise<void> {
  await intake.place(() => {
    source.live = null;
    source.contiguous = false;
    source.seen.clear();
    return noPosition;
  });
}

/** Records that labels since the source was last complete may be missing. The stream's earlier rows no longer join what follows. */
export async function recordReset(source: Source, tools: ReaderTools): Promise<void> {
  source.seen.clear();
  const start = unreadSince(source, tools.epoch);
  const end = tools.clock();
  if (start < end) await tools.recordGap({ source: source.did, start, end, reason: 'cursor_reset' });
}

/** The position after a page. Where the stream gave the same row under that number, numbers and cursors are one. */
function moved({ seen, live }: Source, position: ReadPosition, cursor: number, cursorTail: string): ReadPosition {
  const seq = position.seq ?? live?.seq ?? null;
  const seqTail = position.seq === null ? (live?.tail ?? null) : position.seqTail;
  if (seq !== null && seqTail !== null && seq >= cursor && seen.get(cursor) === cursorTail) {
    return { seq, seqTail, cursor: seq, cursorTail: seqTail };
  }
  return cursor > (position.cursor ?? 0) ? { ...position, cursor, cursorTail } : position;
}

function digitsOf(row: unknown): number {
  return Number.parseInt(fingerprint(row).slice(0, 8), 16);
}

/** The cursor to go on with, or null when the page gives none that is of use. */
function nextCursor({ labels, cursor }: LabelPage, asked: number, { telemetry }: ReaderTools): number | null {
  const next = decimal(cursor);
  if (cursor === '0') telemetry.quirk('zero_cursor');
  else if (cursor === null) {
    if (labels.length > 0) telemetry.quirk('no_cursor');
  } else if (next === null) telemetry.quirk('opaque_cursor');
  else if (next <= asked && labels.length > 0) {
    telemetry.quirk('cursor_not_advancing');
    return null;
  }
  return next;
}

/** Authored time of a row; null if it has none. */
export function authoredOf(row: unknown): Micros | null {
  return isObject(row) ? parseAuthored(row.cts) : null;
}

function unverified(): { readonly kind: 'fault' } & SourceFault {
  return { kind: 'fault', fault: 'order_unverified', why: 'no order', retryAfterMs: null };
}
