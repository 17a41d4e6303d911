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
  /** Everything that the source had when the round began is stored. */
  | { readonly kind: 'quiet'; readonly rows: number }
  | ({ readonly kind: 'fault' } & SourceFault)
  /** The last row that was read is gone without a replacement: the labeler's database was reset, and is read again. */
  | { readonly kind: 'reset' };

/**
 * Reads a source's pages from its position to their end. Used for polling, for filling in the time before a stream's first
 * frame, and for confirming that a quiet stream has no labels. A page that may be the last is requested from one row
 * earlier, so that it shows whether the last row that was read still exists. `before` is the unread part at the start.
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
  /** The first page, if the search has read it. */
  let sampled = found?.page ?? null;
  const { cursor: known, cursorTail } = source.position;
  /** The last row that was read, which the next page must show. */
  let last = known !== null && cursorTail !== null && checksTail(round) ? { mark: cursorTail, number: known } : null;
  let cursor = last === null ? start : start - 1;
  let rows = 0;
  while (!signal.aborted) {
    // The rows of the last page are stored.
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
      // An unordered full page may omit any row.
      const lost = full && shuffled ? null : await checkLastRow(round, page, { ...last, full });
      if (lost !== null) return lost;
      fresh = fresh.filter((row) => fingerprint(row) !== fingerprintIn(mark));
      last = null;
    }
    const next = nextCursor(page, cursor, ports);
    // A full page of known rows is not the end: further rows follow after its cursor, if it has one.
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
    // A short page contained all remaining rows, in any order; a full one may not be the last.
    if (!moves) return full ? unverified() : { kind: 'quiet', rows };
    // Rows after a full page existed with it; rows after a short page are newer, so the last row must be checked.
    last = !full && checksTail(round) ? { mark, number: next } : null;
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

/** Requests a page. Huge labels must not stop their source: a smaller page can be read, and refuses them. */
async function ask({ source, ports, memory, signal }: Round, cursor: number): Promise<Asked> {
  for (let limit = pageLimit; ; limit = Math.max(1, Math.floor(limit / 16))) {
    // A labeler with endless pages is read no faster than its share, even if no row is new.
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

/** Measured mean size of a row of a page, in bytes. */
const meanJsonBytes = 400;

/** Estimates the processor time of reading a page, in milliseconds, as measured. */
function pageCpuMs(rows: number): number {
  return 0.5 + rows * 0.04;
}

/** Maximum memory of the pages that a search keeps. Pages that it does not keep are read again later. */
const maxSampledMemory = 4 * 1024 * 1024;

interface Start {
  readonly kind: 'start';
  readonly cursor: number;
  /** The page after the cursor, if the search has read it. */
  readonly page: Asked<LabelPage> | null;
}

/** Finds the cursor to begin with if the source has none; a failure if the pages do not show one. */
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

function checksTail({ source, ports: { time } }: Round): boolean {
  return shouldCheckTail(source.progress, time.clock(), time.timings.tailMs);
}

/** Checks whether a page shows the last row that was read. Returns null to continue: the row exists, or its loss is recorded as a gap. */
async function checkLastRow(
  round: Round,
  { labels }: LabelPage,
  { mark, number, full }: { readonly mark: string; readonly number: number; readonly full: boolean },
): Promise<{ readonly kind: 'reset' } | ({ readonly kind: 'fault' } & SourceFault) | null> {
  const { source, intake, ports } = round;
  const evidence = { labels, isRest: !full, fingerprintAtNumber: null };
  let status = lastRowStatus(mark, evidence);
  if (status !== 'present' && labels.length > 0) {
    const row = await rowAt(round, number);
    // Retry when the look-up fails; skipping it could lose a row.
    if (row.kind === 'fault') return row;
    status = lastRowStatus(mark, { ...evidence, fingerprintAtNumber: row.kind === 'row' ? row.fingerprint : null });
  }
  if (status === 'present' || status === 'replaced') {
    source.apply({ kind: 'tail_found' });
    return null;
  }
  source.apply({ kind: 'tail_missed', now: ports.time.clock() });
  ports.report.telemetry.quirk('tail_missing');
  await recordReset(source, ports, false);
  if (status === 'unknown') return null;
  await intake.applyInTurn({ kind: 'position_forgotten' });
  return { kind: 'reset' };
}

/** Records that labels since the source was last complete may be missing. `live`: later ones arrive on the open stream. */
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

/** Returns the next cursor, or null if the page has no usable one. */
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
