import type { Micros } from '../../contract/timestamp.ts';
import { threadCpuMs } from '../../ops/process.ts';
import type { ReceivedLabel } from '../../store/label.ts';
import type { NewObservation, Refusal } from '../../store/port.ts';
import { micros } from '../../store/time.ts';
import { fingerprint } from '../label/label-fields.ts';
import { CapReached, costOf } from '../shares/daily-cap.ts';
import type { Transport } from '../shares/telemetry.ts';
import { noChanges, type PageChanges, shortDelay } from '../state/filled-in.ts';
import { type PositionMove, type ReadingEvent, writePosition } from '../state/reading-events.ts';
import { positionAfter, type Source } from '../state/source.ts';
import { ClockChanged } from './acceptance.ts';
import { type AdmissionReason, admit } from './admission.ts';
import { type AcceptedPage, note, type ReaderPorts, type ReaderTime, split } from './ports.ts';

/** Rows of one page or of several frames, in the order in which the labeler sent them. */
interface Intake {
  readonly rows: readonly unknown[];
  readonly transport: Transport;
  /** Time up to which everything that a stream delivered has been taken; the current time if absent. */
  readonly through?: Micros;
  /** Time since which the rows of a stream may have waited; the current time if absent. */
  readonly since?: Micros;
  /** True if the same transport may already have delivered some of these rows in its preceding delivery. */
  readonly again?: boolean;
  /** Change to the resume position that is committed with the rows. */
  readonly move: PositionMove;
}

/** Accepts the pages of one source in sequence. */
export interface SourceIntake {
  /**
   * Admits, verifies and commits the rows of a page. Resolves once the rows and the position are durable, with what
   * became of the rows. Rejects with `CapReached` if the daily cap does not admit the rows, with the reason of the
   * signal if it aborts before the turn of the page, and with the error of a failed check or commit.
   */
  take(intake: Intake, signal: AbortSignal): Promise<RowsTaken>;
  /**
   * Commits sampled rows, which the labeler may replace before they are read in order. Does not move the position. Does
   * not count refusals, because they are counted when the rows are read in order. Rejects like `take`.
   */
  keep(rows: readonly unknown[], signal: AbortSignal): Promise<void>;
  /**
   * Applies an event after the pending pages are committed, because those pages move the position. The effect is
   * durable with the next rows.
   */
  applyInTurn(
    event: Extract<ReadingEvent, { kind: 'joined' | 'number_forgotten' | 'position_forgotten' | 'holes_closed' }>,
  ): Promise<void>;
}

/**
 * Returns true if rows that arrive now are live: the stream delivers them after all earlier labels were read, or a page
 * does so soon after that. Rows of an outage, of a first read and of sampled pages are not live, and neither are rows that waited.
 */
function isLive(
  { tracker }: Source,
  { transport, since }: Pick<Intake, 'transport' | 'since'>,
  { clock, timings }: ReaderTime,
): boolean {
  if (transport === 'stream') return tracker.whole && (since === undefined || clock() - since <= shortDelay);
  // Even while a stream is live, its labeler may have emitted a row of a page minutes ago without sending it.
  const { unreadSince } = tracker;
  return unreadSince !== null && clock() - unreadSince <= 2 * timings.pollMs * 1000;
}

/** Ports on which the intake depends. */
type IntakePorts = Omit<ReaderPorts, 'query'>;

/**
 * Creates the intake of a source, which its stream and its polls share. The intake commits one page at a time, so the
 * position never gets ahead of the rows of the other transport. Calls `onCapReached` when the source has used up its
 * daily allowance.
 */
export function createIntake(source: Source, ports: IntakePorts, onCapReached: () => void): SourceIntake {
  let before: Promise<unknown> = Promise.resolve();
  const inTurn = <T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> => {
    const turn = before.then(async () => {
      try {
        // Check no row of a page once reading ends: its rows are read again. A source that is no longer read must not be
        // paused either.
        signal.throwIfAborted();
        if (ports.acceptance.cap.isPaused(source.did)) throw new CapReached();
        return await withStableClock(work, signal);
      } catch (error) {
        if (error instanceof CapReached) onCapReached();
        throw error;
      }
    });
    before = turn.catch(() => undefined);
    return turn;
  };
  return {
    take(intake, signal) {
      return inTurn(() => takeOne(source, ports, intake, signal), signal);
    },
    keep(rows, signal) {
      return inTurn(() => keepOne(source, ports, rows, signal), signal);
    },
    applyInTurn(event) {
      const turn = before.then(() => {
        source.apply(event);
      });
      before = turn;
      return turn;
    },
  };
}

/**
 * Runs `work`, and repeats it each time it rejects with `ClockChanged`, because the labels must then be judged again.
 */
async function withStableClock<T>(work: () => Promise<T>, signal: AbortSignal): Promise<T> {
  for (;;) {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof ClockChanged)) throw error;
      signal.throwIfAborted();
    }
  }
}

/**
 * Evidence that a refused label gives about the dates of its source, by reason; null for a reason that is found before
 * the date is checked.
 */
const datesOfReason: Readonly<Record<AdmissionReason, 'dated' | 'undated' | null>> = {
  foreign_src: null,
  malformed: null,
  oversized: null,
  space_uri: null,
  undated: 'undated',
  future: 'dated',
  pre_epoch: 'dated',
  late: 'dated',
};

async function takeOne(source: Source, ports: IntakePorts, intake: Intake, signal: AbortSignal): Promise<RowsTaken> {
  const { rows, transport, through, again = false, move } = intake;
  const { did, endpoint } = source;
  const { gaps, report } = ports;
  const { clock } = ports.time;
  const clockGeneration = ports.acceptance.clockGeneration();
  const counts = new Map<AdmissionReason, number>();
  // Assume that a source without a position repeats rows that it has already sent.
  const startsOver =
    (transport === 'poll' ? source.position.cursor : (source.position.seq ?? source.progress.live)) === null;
  const refused = ports.acceptance.refused.take(did, clock(), { transport, startsOver, again });
  const dates = { dated: 0, undated: 0 };
  let refusedRows = 0;
  const live = isLive(source, intake, ports.time);
  const observed = await observe(source, ports, rows, signal, (reason, row) => {
    const evidence = datesOfReason[reason];
    if (evidence !== null) dates[evidence] += 1;
    refusedRows += 1;
    if (refused.counts(fingerprint(row), reason)) counts.set(reason, (counts.get(reason) ?? 0) + 1);
  });
  const observations = observed.map((observation) => ({ ...observation, live }));
  const refusals = [...counts].map(([reason, count]): Refusal => ({ source: did, reason, count }));
  const position = positionAfter(source.progress, move);
  dates.dated += observations.length;
  if (source.tracker.unreadSince === null) source.apply({ kind: 'completed', through: ports.time.epoch });
  // Determine the catch-up before the answer is noted, because the answer may end the time that was not read.
  const filledIn = live ? noChanges : catchUp(source, ports, transport);
  // Record the gap before the position, so that a crash between the two overstates the gap and never hides it.
  const now = clock();
  await note(source, gaps, { kind: 'answered', now, ...dates, live: transport === 'stream' ? (through ?? now) : null });
  const positions = [{ source: did, endpoint, value: writePosition(position) }];
  const page = { source: did, observations, refusals, positions, refusedRows: refused.changes, clockGeneration };
  const stored = await commit(ports, page, filledIn);
  if (live) ports.acceptance.filledIn.live(did, clock());
  refused.committed();
  if (stored > 0 || refusals.length > 0) source.apply({ kind: 'new_rows_stored', now: clock() });
  source.apply({ kind: 'committed', move, position });
  for (const { reason, count } of refusals) report.telemetry.refused(reason, count);
  return { stored, known: observations.length - stored, refused: refusedRows };
}

async function keepOne(
  source: Source,
  ports: IntakePorts,
  rows: readonly unknown[],
  signal: AbortSignal,
): Promise<void> {
  const clockGeneration = ports.acceptance.clockGeneration();
  const observations = await observe(source, ports, rows, signal, () => undefined);
  if (observations.length === 0) return;
  const page = { source: source.did, observations, refusals: [], positions: [], clockGeneration };
  await commit(ports, page, catchUp(source, ports, 'poll'));
}

/** Returns the change that marks the rows of a page as read late. */
function catchUp({ did, tracker }: Source, { acceptance, time }: IntakePorts, transport: Transport): PageChanges {
  // While a hole is open, the stream delivers later rows live, and pages show the rows of the hole afterwards.
  const isOutOfOrder = transport === 'poll' && tracker.reading.hole !== null;
  return acceptance.filledIn.covering(did, tracker.unreadSince ?? time.epoch, { isOutOfOrder });
}

/**
 * Commits a page that the daily cap admitted, in parts if necessary. Charges the source for the commit, and refunds
 * rows that are not stored. Each part extends the catch-up, so that no stored row of the page is outside it, even if a
 * pause separates the parts. Returns the number of new rows.
 */
async function commit(ports: IntakePorts, page: AcceptedPage, filledIn: PageChanges): Promise<number> {
  const { source, observations } = page;
  const cost = costOf(observations);
  let stored = 0;
  try {
    // Commit each part with its own repeats, so that after a crash between two parts the rows of the first part are
    // detected as repeats.
    for (const part of split(page)) {
      const repeats = await ports.acceptance.repeats.find(source, part.observations);
      const marks = [repeats, filledIn].filter((one) => one !== noChanges);
      stored += await ports.acceptance.accept({ ...part, marks });
      for (const one of marks) one.committed();
    }
  } finally {
    const part = cost.rows === 0 ? 0 : 1 - stored / cost.rows;
    ports.acceptance.cap.refund(source, { rows: cost.rows - stored, bytes: cost.bytes * part });
  }
  ports.pace.charge(source, { writes: 1 });
  ports.acceptance.usage.add(source, {
    rows: stored,
    bytesStored: cost.rows === 0 ? 0 : (cost.bytes * stored) / cost.rows,
  });
  return stored;
}

/**
 * Selects the acceptable rows, counts them against the daily cap, and checks their signatures. Calls `refuse` for
 * each other row. Rejects with `CapReached`, before any signature is checked, if the daily cap does not admit the
 * acceptable rows.
 */
async function observe(
  { did }: Source,
  { acceptance: { verify, cap, purges }, time: { clock, epoch }, pace }: IntakePorts,
  rows: readonly unknown[],
  signal: AbortSignal,
  refuse: (reason: AdmissionReason, row: unknown) => void,
): Promise<NewObservation[]> {
  const since = micros(Math.max(epoch, purges.requestedAt(did) ?? 0));
  const rules = { source: did, since, now: clock() };
  const accepted: { readonly label: ReceivedLabel; readonly row: unknown }[] = [];
  const begun = threadCpuMs();
  for (const row of rows) {
    const admission = admit(row, rules);
    if (admission.kind === 'accepted') accepted.push({ label: admission.label, row });
    else refuse(admission.reason, row);
  }
  pace.charge(did, { rows: rows.length, cpuMs: threadCpuMs() - begun });
  const signed = accepted.map(({ row }) => row);
  const cost = costOf(accepted.map(({ label }) => ({ label, signature: 'unverified' })));
  if (!cap.admits(did, cost)) throw new CapReached();
  try {
    const verdicts = signed.length === 0 ? [] : await verify(did, signed, signal);
    return accepted.map(({ label }, i) => ({ label, signature: verdicts[i] ?? 'unverified' }));
  } catch (error) {
    cap.refund(did, cost);
    throw error;
  }
}

/** Numbers of rows of one page or of several frames, by what became of them. */
interface RowsTaken {
  readonly stored: number;
  /** Rows that the store already had. */
  readonly known: number;
  readonly refused: number;
}

/**
 * Outcome of an item that a labeler delivered. An item is a row, or a message whose rows are unknown. A `hole` is
 * closed by pages or becomes a gap later. An item that is `left` is not passed by the position, and arrives again.
 */
type Outcome = keyof RowsTaken | 'hole' | 'left';

/**
 * Account of one delivery of a labeler: a page, or the frames that are read together. Every item that was received must
 * have an outcome when the delivery is finished: received = stored + known + refused + holes + left. An account that is
 * not balanced shows that this program lost a row without a gap. An error that ends the delivery also ends its account,
 * because the position then stays before the delivery.
 */
export class DeliveryAccount {
  readonly #source: Source;
  readonly #report: Pick<ReaderPorts['report'], 'log' | 'telemetry'>;
  readonly #received: number;
  readonly #settled: Record<Outcome, number> = { stored: 0, known: 0, refused: 0, hole: 0, left: 0 };

  constructor(source: Source, report: Pick<ReaderPorts['report'], 'log' | 'telemetry'>, received: number) {
    this.#source = source;
    this.#report = report;
    this.#received = received;
  }

  settle(outcome: Outcome, items: number): void {
    this.#settled[outcome] += items;
  }

  /** Settles the rows that the intake took. */
  take({ stored, known, refused }: RowsTaken): void {
    this.settle('stored', stored);
    this.settle('known', known);
    this.settle('refused', refused);
  }

  /** Settles all other items, because the delivery ends before the position passes them. */
  leave(): void {
    this.settle('left', this.#open);
  }

  get #open(): number {
    return Object.values(this.#settled).reduce((open, items) => open - items, this.#received);
  }

  /** Finishes the delivery. Reports items without an outcome, and a hole that the position or the state has passed. */
  close(): void {
    const items = Math.abs(this.#open);
    const passed = passesHole(this.#source);
    if (items === 0 && !passed) return;
    const { log, telemetry } = this.#report;
    telemetry.unbalanced(Math.max(1, items));
    log.error('the account of a labeler is not balanced: labels may be missing without a gap', {
      ...{ labeler: this.#source.did, received: this.#received, ...this.#settled, passed },
    });
  }
}

/** Returns true if the position of a source, or the time up to which it is complete, has passed an open hole. */
export function passesHole({
  progress,
  position,
  tracker,
}: Pick<Source, 'progress' | 'position' | 'tracker'>): boolean {
  const [first] = progress.holes;
  if (first === undefined) return false;
  const { hole, tracked } = tracker.reading;
  if (hole === null || (tracked.completeThrough ?? 0) > hole.last) return true;
  return first.before !== null && position.seq !== null && position.seq > first.before.seq;
}
