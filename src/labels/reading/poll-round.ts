import type { Micros } from '../../contract/timestamp.ts';
import type { ByteAccount } from '../../input/decoded-bytes.ts';
import { inputLimits } from '../../input/limits.ts';
import { micros } from '../../store/time.ts';
import { DeliveryAccount, type SourceIntake } from '../ingest/intake.ts';
import { note, type ReadingPorts } from '../ingest/ports.ts';
import { authoredOf, fingerprint } from '../label/label-fields.ts';
import type { PositionMove, SourceFault, UnplacedRow, Unread } from '../state/reading-events.ts';
import { type Source, shouldCheckTail } from '../state/source.ts';
import { fillTarget, recordReset, untilReadable } from './catch-up.ts';
import { isShuffled, type SampledPage, searchCursor } from './cursor-search.ts';
import {
  decimal,
  fingerprintIn,
  hasEarlierRows,
  type LabelPage,
  lastRowStatus,
  markOf,
  pageLimit,
  requestPage,
  rowAt,
  showsRow,
} from './pages.ts';

/** Result of reading a source's pages to their end. */
export type RoundOutcome =
  /** All labels that the source had when the last page was requested, at `through`, are stored. */
  | { readonly kind: 'quiet'; readonly rows: number; readonly through: Micros }
  | ({ readonly kind: 'fault' } & SourceFault)
  /**
   * The last row that was read no longer exists and was not replaced: the labeler's database was reset, and is read
   * again.
   */
  | { readonly kind: 'reset' };

/**
 * Reads a source's pages from its position to their end. A round polls a source, fills in the labels from before a
 * stream's first frame, or confirms that a quiet stream has missed no labels. A request for the rows after the last row
 * that was read may begin one row earlier, so that the page shows whether that row still exists. `before` is the unread
 * part at the start. A completed round closes the holes of the stream that are older than the lag of a replica.
 */
export async function pollRound(
  source: Source,
  intake: SourceIntake,
  ports: ReadingPorts,
  { before, signal }: { readonly before: Unread; readonly signal: AbortSignal },
): Promise<RoundOutcome> {
  const memory = ports.query.memory.decoded.open();
  // The pages of a replica may lag behind the stream.
  const shown = micros(ports.time.clock() - ports.time.timings.resumeMs * 1000);
  try {
    const { newest } = source.progress;
    const round: Round = { source, intake, ports, memory, signal, rowBytes: 0, newest };
    const outcome = (await checkFormer(round)) ?? (await readRound(round, before));
    if (outcome.kind === 'quiet') await intake.applyInTurn({ kind: 'holes_closed', through: shown });
    return outcome;
  } finally {
    memory.release();
  }
}

async function readRound(round: Round, before: Unread): Promise<RoundOutcome> {
  const { source, intake, ports, memory, signal } = round;
  const found = source.position.cursor === null ? await findStart(round) : null;
  if (found?.kind === 'fault') return found;
  const start = found?.cursor ?? source.position.cursor ?? 0;
  /** First page, if the search for the start has already read it. */
  let sampled = found?.page ?? null;
  const { cursor: known, cursorTail } = source.position;
  /** Last row that was read; the next page must contain it. Null if no check is necessary. */
  let last = known !== null && cursorTail !== null && checksTail(round) ? { mark: cursorTail, number: known } : null;
  let cursor = last === null ? start : start - 1;
  if (round.newest !== null && round.newest.after < cursor) round.newest = null;
  let rows = 0;
  while (!signal.aborted) {
    // Release the memory of the preceding page, whose rows are stored.
    if (sampled === null) memory.release();
    const { page, limit, askedAt } = sampled ?? (await ask(round, cursor));
    sampled = null;
    if (page.kind === 'fault') return page;
    if (round.newest !== null && showsRow(round.newest.mark, page.labels)) round.newest = null;
    // Record the reading before its first row is accepted: a gap of labels that are already too old would be lost if the
    // process stopped during the reading.
    if (rows === 0) await note(source, ports.gaps, { kind: 'reading_began', before });
    let fresh = page.labels.filter((row) => !source.progress.unplaced.has(fingerprint(row)));
    const full = page.labels.length >= limit;
    const shuffled = isShuffled(page.labels.map(authoredOf));
    if (last !== null) {
      const { mark } = last;
      // Ignore an unordered full page, because it may omit any row and thus proves nothing about the last one.
      const lost = full && shuffled ? null : await checkLastRow(round, page, { ...last, full });
      if (lost !== null) return lost;
      fresh = fresh.filter((row) => fingerprint(row) !== fingerprintIn(mark));
      last = null;
    }
    const account = accountOf(round, page, fresh);
    const next = nextCursor(page, cursor, ports);
    // A full page of known rows is not the end. Further rows follow after the cursor of the page, if it has one.
    if (fresh.length === 0 && full) {
      if (next === null) return unverified();
      cursor = next;
      continue;
    }
    const cursorAfter = shuffled ? null : next;
    if (fresh.length === 0 || (cursorAfter === null && !full)) await missNewest(round);
    if (fresh.length === 0) {
      await intake.take({ rows: [], transport: 'poll', move: { kind: 'unplaced', start } }, signal);
      return { kind: 'quiet', rows, through: askedAt };
    }
    const mark = await storePage(round, page, { fresh, shuffled, cursorAfter, asked: cursor, start, account });
    rows += fresh.length;
    // Without a cursor, only a short page proves that all rows were read, whatever their order; more rows may follow a
    // full page.
    if (cursorAfter === null) return full ? unverified() : { kind: 'quiet', rows, through: askedAt };
    // The rows after a full page existed when that page was read. Rows after a short page are newer than the page:
    // begin the next page one row earlier, to check that the last row still exists.
    last = !full && checksTail(round) ? { mark, number: cursorAfter } : null;
    cursor = last === null ? cursorAfter : cursorAfter - 1;
  }
  return { kind: 'fault', fault: null, why: 'stopped', retryAfterMs: null };
}

/** New rows of a page. */
interface FreshRows {
  readonly fresh: readonly unknown[];
  readonly shuffled: boolean;
  readonly cursorAfter: number | null;
  /** Cursor with which the page was requested. */
  readonly asked: number;
  readonly start: number;
  readonly account: DeliveryAccount;
}

/**
 * Stores the new rows of a page, and moves the position to `cursorAfter`, unless that is null. Returns the mark of the
 * last row.
 */
async function storePage(
  { source, intake, ports, signal }: Round,
  page: LabelPage,
  { fresh, shuffled, cursorAfter, asked, start, account }: FreshRows,
): Promise<string> {
  if (shuffled) ports.report.telemetry.quirk('unordered_page');
  if (source.tracker.reading.replacesRows === null && hasEarlierRows(page.labels)) {
    source.apply({ kind: 'row_keeping_seen', replaces: false });
  }
  const mark = markOf(page.labels.at(-1));
  const { lastPage } = source.progress;
  const again = lastPage === null || fresh.some((row) => lastPage.has(digitsOf(row)));
  const move: PositionMove =
    cursorAfter === null ? { kind: 'unplaced', start } : { kind: 'page', cursor: cursorAfter, tail: mark };
  account.take(await intake.take({ rows: fresh, transport: 'poll', again, move }, signal));
  account.close();
  const unplaced = new Set(cursorAfter === null ? page.labels.map(fingerprint) : []);
  const newest = cursorAfter === null ? { mark: markOf(newestOf(page.labels)), after: asked } : null;
  source.apply({ kind: 'page_stored', digits: new Set(page.labels.map(digitsOf)), unplaced, newest });
  return mark;
}

/**
 * Must be called at the end of the pages, before the last one is stored. Records a gap if pages without a usable cursor
 * lack the newest row of the preceding round: the labeler's database was reset.
 */
async function missNewest({ source, ports, newest }: Round): Promise<void> {
  if (newest === null) return;
  ports.report.telemetry.quirk('tail_missing');
  await recordReset(source, ports, false);
  source.apply({ kind: 'newest_missed', newest });
}

/** Returns the row with the latest authored time, or the last row if no row has a time. */
const newestOf = (labels: readonly unknown[]): unknown =>
  labels.reduce((newest, row) => ((authoredOf(row) ?? 0) >= (authoredOf(newest) ?? 0) ? row : newest));

/** Opens the account of a page whose other rows are known, and closes it if no row is new. */
function accountOf({ source, ports }: Round, { labels }: LabelPage, fresh: readonly unknown[]): DeliveryAccount {
  const account = new DeliveryAccount(source, ports.report, labels.length);
  account.settle('known', labels.length - fresh.length);
  if (fresh.length === 0) account.close();
  return account;
}

interface Round {
  readonly source: Source;
  readonly intake: SourceIntake;
  readonly ports: ReadingPorts;
  readonly signal: AbortSignal;
  /** Memory quota of the pages that are decoded and not yet stored. */
  readonly memory: ByteAccount;
  /** Newest row of the preceding round if its page had no usable cursor, until a page of this round shows the row. */
  newest: UnplacedRow | null;
  /** Mean size of a label in the last page that contained labels, in bytes as received; 0 before the first page. */
  rowBytes: number;
}

interface Asked<Page = LabelPage | ({ readonly kind: 'fault' } & SourceFault)> {
  readonly page: Page;
  /** Number of requested labels. */
  readonly limit: number;
  /** Time before which the source has put all labels on the page: labels from the time of the transfer may be missing. */
  readonly askedAt: Micros;
  /** Memory that the page occupies, in bytes. */
  readonly cost: number;
}

/**
 * Requests a page once the source may be read, and charges the source for the page. If huge labels make the page too
 * large, requests a smaller page; the huge labels in that page are then refused.
 */
async function ask(round: Round, cursor: number): Promise<Asked> {
  const { source, ports, memory, signal } = round;
  for (let limit = limitFor(round.rowBytes); ; limit = Math.max(1, Math.floor(limit / 16))) {
    // Throttle each request, so that a labeler with endless pages is read no faster than its share even if no row is
    // new.
    await untilReadable(source, ports, signal);
    let cost = 0;
    let received = 0;
    const charged = { bytes: 0, cpuMs: 0 };
    const askedAt = ports.time.clock();
    const page = await requestPage({ source, ports, signal }, cursor, {
      ...{ limit, large: limit === 1 },
      admit: async (decodedBytes, length) => {
        const outcome = await memory.take(decodedBytes, signal, length);
        if (outcome === 'taken') cost = decodedBytes;
        received = length;
        return outcome;
      },
      charge: ({ bytes, cpuMs }) => {
        charged.bytes += bytes;
        charged.cpuMs += cpuMs;
      },
    });
    if (page.kind === 'fault') memory.release(cost);
    if (page.kind === 'fault' && page.why === 'too_large' && limit > 1) continue;
    if (page.kind === 'page') {
      if (page.labels.length > 0) round.rowBytes = received / page.labels.length;
      ports.report.telemetry.page('poll');
      ports.pace.charge(source.did, {
        bytes: Math.max(0, page.labels.length * meanJsonBytes - charged.bytes),
        cpuMs: Math.max(0, pageCpuMs(page.labels.length) - charged.cpuMs),
      });
    } else if (page.why === 'busy') ports.report.telemetry.hostFull('poll');
    return { page, limit, askedAt, cost };
  }
}

/** Returns the number of labels to request, so that a page of labels of the given size is not too large. */
function limitFor(rowBytes: number): number {
  const fitting = Math.floor(inputLimits.labelPage.bytes / Math.max(1, rowBytes));
  return Math.min(pageLimit, Math.max(1, fitting));
}

/** Measured mean size of a row in a page, in bytes. */
const meanJsonBytes = 400;

/** Estimates the processor time of reading a page, in milliseconds, from measurements. */
const pageCpuMs = (rows: number): number => 0.5 + rows * 0.04;

/** Maximum memory of the sampled pages that a search keeps, in bytes. Other sampled pages are requested again later. */
const maxSampledMemory = 4 * 1024 * 1024;

interface Start {
  readonly kind: 'start';
  readonly cursor: number;
  /** Page after the cursor if the search has already read that page, or null. */
  readonly page: Asked<LabelPage> | null;
}

/**
 * Returns the cursor from which a source without a position is read, or a failure if a request fails or the sampled
 * pages show no order.
 */
async function findStart(round: Round): Promise<Start | ({ readonly kind: 'fault' } & SourceFault)> {
  const { source, intake, ports, signal } = round;
  const pages = new Map<number, Asked<LabelPage>>();
  /** Sampled pages by cursor, including those that were too large to keep. */
  const seen = new Map<number, SampledPage & { readonly limit: number }>();
  const failed: { fault: SourceFault | null } = { fault: null };
  const read = async (cursor: number): Promise<SampledPage & { readonly limit: number }> => {
    const known = seen.get(cursor);
    if (known) return known;
    const { page, limit, askedAt, cost } = await ask(round, cursor);
    if (page.kind === 'fault') {
      failed.fault = page;
      throw new Error('a page could not be read during the search for the cursor');
    }
    const found = { authored: page.labels.map(authoredOf), cursor: decimal(page.cursor), limit };
    seen.set(cursor, found);
    if (round.memory.held <= maxSampledMemory) pages.set(cursor, { page, limit, askedAt, cost });
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
    // A short page without a next page contains all labels, so no search is necessary.
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

/**
 * Checks whether the endpoint to which a labeler moved has the last row that was read at the former one. If not, its
 * database is another one, and the last labels of the former one may be lost. Returns null if reading may continue.
 */
async function checkFormer(round: Round): ReturnType<typeof checkLastRow> {
  const { former } = round.source.progress;
  if (former === null) return null;
  const { page, limit, cost } = await ask(round, former.number - 1);
  if (page.kind === 'fault') return page;
  const outcome = await checkLastRow(round, page, { ...former, full: page.labels.length >= limit });
  round.memory.release(cost);
  if (outcome?.kind !== 'fault') round.source.apply({ kind: 'former_checked' });
  return outcome;
}

function checksTail({ source, ports: { time } }: Round): boolean {
  return shouldCheckTail(source.progress, time.clock(), time.timings.tailMs);
}

/**
 * Checks whether a page shows the last row that was read. Returns null if reading may continue: the row exists, it was
 * replaced, or it may be lost and a gap is recorded. Returns a failure if the look-up of the row fails. If the row is
 * gone, records a gap, discards the position and returns `reset`.
 */
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
  if (status === 'replaced') source.apply({ kind: 'row_keeping_seen', replaces: true });
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

function digitsOf(row: unknown): number {
  return Number.parseInt(fingerprint(row).slice(0, 8), 16);
}

/** Returns the next cursor, or null if the cursor of the page cannot be used; counts an unusable cursor as a quirk. */
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

function unverified(): { readonly kind: 'fault' } & SourceFault {
  return { kind: 'fault', fault: 'order_unverified', why: 'no order', retryAfterMs: null };
}
