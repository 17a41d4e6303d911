import type { Micros } from '../../contract/timestamp.ts';
import type { ByteAccount } from '../../input/decoded-bytes.ts';
import { isObject } from '../../input/json-object.ts';
import type { SourceIntake } from '../ingest/intake.ts';
import { fillTarget, note, type ReadingPorts } from '../ingest/ports.ts';
import { parseAuthored } from '../label/authored-time.ts';
import { fingerprint } from '../label/fingerprint.ts';
import { isShuffled, type SampledPage, searchCursor } from '../poll/cursor-search.ts';
import { fingerprintIn, lastRowStatus, markOf } from '../poll/last-row.ts';
import { decimal, type LabelPage, type PageOptions, pageLimit } from '../poll/query-labels.ts';
import type { SourceFault } from '../state/faults.ts';
import { shouldCheckTail } from '../state/read-progress.ts';
import type { Unread } from '../state/reading-events.ts';
import type { Source } from '../state/source.ts';
import { recordReadingStart } from './catch-up.ts';
import { type PageRequester, requestPage, rowAt } from './row-at.ts';
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
  ports: ReadingPorts,
  { before, signal }: { readonly before: Unread; readonly signal: AbortSignal },
): Promise<RoundOutcome> {
  const memory = ports.query.memory.decoded.open();
  try {
    return await readRound({ source, intake, ports, memory, signal }, before);
  } finally {
    memory.release();
  }
}

async function readRound(round: Round, before: Unread): Promise<RoundOutcome> {
  const { source, intake, ports, memory, signal } = round;
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
    if (rows === 0) await recordReadingStart(source, ports, before);
    let fresh = page.labels.filter((row) => !source.progress.unplaced.has(fingerprint(row)));
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
    const next = nextCursor(page, cursor, ports);
    // A full page of known rows is no end: what lies beyond is behind its cursor, or nobody knows it.
    if (fresh.length === 0 && full) {
      if (next === null) return unverified();
      cursor = next;
      continue;
    }
    if (fresh.length === 0) {
      await intake.take({ rows: [], transport: 'poll', move: { kind: 'unplaced', start } }, signal);
      return { kind: 'quiet', rows };
    }
    if (shuffled) ports.report.telemetry.quirk('unordered_page');
    const moves = next !== null && !shuffled;
    const mark = markOf(page.labels.at(-1));
    const { lastPage } = source.progress;
    const again = lastPage === null || fresh.some((row) => lastPage.has(digitsOf(row)));
    await intake.take(
      {
        rows: fresh,
        ...{ transport: 'poll', again },
        move: moves ? { kind: 'page', cursor: next, tail: mark } : { kind: 'unplaced', start },
      },
      signal,
    );
    rows += fresh.length;
    const unplaced = new Set(moves ? [] : page.labels.map(fingerprint));
    source.apply({ kind: 'page_stored', digits: new Set(page.labels.map(digitsOf)), unplaced });
    // A short page contained all remaining rows, in any order; after a full one there may be more.
    if (!moves) return full ? unverified() : { kind: 'quiet', rows };
    // Behind a full page lies what was there with it; behind a short one, what came since.
    last = !full && looks(round) ? { mark, number: next } : null;
    cursor = last === null ? next : next - 1;
  }
  return { kind: 'fault', fault: null, why: 'stopped', retryAfterMs: null };
}

interface Round extends PageRequester {
  readonly ports: ReadingPorts;
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
async function ask({ source, ports, memory, signal }: Round, cursor: number): Promise<Asked> {
  for (let limit = pageLimit; ; limit = Math.max(1, Math.floor(limit / 16))) {
    // A labeler whose pages never end is read no faster than its share, also where none of them is new.
    await untilReadable(source, ports, signal);
    let cost = 0;
    const admit: PageOptions['admit'] = async (decodedBytes, length) => {
      const outcome = await memory.take(decodedBytes, signal, length);
      if (outcome === 'taken') cost = decodedBytes;
      return outcome;
    };
    const page = await requestPage({ source, ports, signal }, cursor, { limit, large: limit === 1, admit });
    if (page.kind === 'fault') memory.release(cost);
    if (page.kind === 'fault' && page.why === 'too_large' && limit > 1) continue;
    if (page.kind === 'page') {
      if (page.date !== null) ports.query.onUpstreamTime(page.date);
      ports.report.telemetry.page('poll');
      ports.pace.charge(source.did, {
        bytes: page.labels.length * meanJsonBytes,
        cpuMs: pageCpuMs(page.labels.length),
      });
    } else if (page.why === 'busy') ports.report.telemetry.hostFull('poll');
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
  const { source, intake, ports, signal } = round;
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
    const target = fillTarget(ports.time.epoch, ports.time.clock());
    const found = await searchCursor(target, read);
    if (found.kind === 'found') return await start(found.cursor);
    ports.report.log.info('the pages of a labeler are not in order', { labeler: source.did, why: found.why });
    return unverified();
  } catch (error) {
    if (failed.fault) return { kind: 'fault', ...failed.fault };
    throw error;
  }
}

function looks({ source, ports: { time } }: Round): boolean {
  return shouldCheckTail(source.progress, time.clock(), time.timings.tailMs);
}

/** Looks in a page for the last row that was read. Null when reading goes on: it is there, or what it may have cost is a gap. */
async function lookForLast(
  round: Round,
  { labels }: LabelPage,
  { mark, number, full }: { readonly mark: string; readonly number: number; readonly full: boolean },
): Promise<{ readonly kind: 'reset' } | ({ readonly kind: 'fault' } & SourceFault) | null> {
  const { source, intake, ports } = round;
  const sight = { labels, isRest: !full, fingerprintAtNumber: null };
  let fate = lastRowStatus(mark, sight);
  if (fate !== 'there' && labels.length > 0) {
    const row = await rowAt(round, number);
    // Retry when the look-up fails; skipping it could lose a row.
    if (row.kind === 'fault') return row;
    fate = lastRowStatus(mark, { ...sight, fingerprintAtNumber: row.kind === 'row' ? row.fingerprint : null });
  }
  if (fate === 'there' || fate === 'replaced') {
    source.apply({ kind: 'tail_found' });
    return null;
  }
  source.apply({ kind: 'tail_missed', now: ports.time.clock() });
  ports.report.telemetry.quirk('tail_missing');
  await recordReset(source, ports, false);
  if (fate === 'unknown') return null;
  await intake.applyInTurn({ kind: 'position_forgotten' });
  return { kind: 'reset' };
}

/** Records that labels since the source was last complete may be missing; `live`: later ones arrive on the open stream. */
export async function recordReset(
  source: Source,
  { gaps, time }: Pick<ReadingPorts, 'gaps' | 'time'>,
  live: boolean,
): Promise<void> {
  await note(source, gaps, { kind: 'reset', now: time.clock(), epoch: time.epoch, live });
}

function digitsOf(row: unknown): number {
  return Number.parseInt(fingerprint(row).slice(0, 8), 16);
}

/** The cursor to go on with, or null when the page gives none that is of use. */
function nextCursor(
  { labels, cursor }: LabelPage,
  asked: number,
  { report: { telemetry } }: ReadingPorts,
): number | null {
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
