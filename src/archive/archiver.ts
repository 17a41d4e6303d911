import { OperatorError, systemCode, systemWords } from '../ops/errors.ts';
import type { Log } from '../ops/log.ts';
import { ClockComparison, maxClockDifferenceMs } from './clock-comparison.ts';
import { Memo } from './compute/compute-files.ts';
import { addDays, closesAt, dayOf, hourMs, hourOf } from './days/calendar.ts';
import {
  archivedFacts,
  type FactName,
  type FailureReason,
  factNames,
  formatFailure,
  formatResponse,
  type LastLine,
  lastLineIn,
  lineFileOf,
  type ServedResponse,
  withoutLater,
} from './days/line.ts';
import { pathOf } from './days/records.ts';
import type { FetchedFact } from './fetch-fact.ts';
import type { ArchiveFiles } from './files/archive-files.ts';
import type { HoursReadings } from './hours/hour-lists.ts';
import type { DayLog } from './log/day-log.ts';
import { settleDays } from './settle.ts';

/** Delay before a failed request or write is retried, in milliseconds. */
const retryMs = 60_000;
/** Maximum random delay after the start of an hour, in milliseconds. It spreads the requests of several archives. */
const spreadMs = 20_000;

/** Dependencies of an archiver. */
export interface ArchiverOptions {
  readonly files: ArchiveFiles;
  readonly dayLog: DayLog;
  readonly fetchFact: (path: string) => Promise<FetchedFact>;
  /** Describes the first DID, AT-URI or handle in a body without quoting it; null if the body contains none. */
  readonly findIdentity: (body: Uint8Array) => string | null;
  /** Describes the first forbidden identity in the values of the archive file `name`; null if there is none. */
  readonly findIdentityIn: (name: string, value: object) => string | null;
  /** Returns the hours files (hourly counts) of both instruments; null if this archive does not keep them. */
  readonly readHours: () => HoursReadings | null;
  /** Returns milliseconds since 1970. */
  readonly clock: () => number;
  /** Returns a number in [0, 1). */
  readonly random: () => number;
  readonly log: Log;
  /** Receives the events; by default, they are discarded. */
  readonly telemetry?: ArchiveTelemetry;
}

/** Result of archiving one body. */
type LineOutcome = 'archived' | FailureReason;

/** Receives the events of an archiver, for metrics. */
export interface ArchiveTelemetry {
  /** Called when a line was written or a request failed. */
  line(fact: FactName, outcome: LineOutcome): void;
  /** Called when every body of the current hour is archived and the days are up to date. */
  complete(): void;
  /**
   * Called when content was withheld because the privacy scan found an identity in it. `file` is the name or path of the
   * file that lacks this content.
   */
  withheld(file: string): void;
  /** Called with the number of damaged files found in one update of the days. */
  damaged(files: number): void;
  /** Called with false while the system refuses writes, and with true once they succeed. */
  writable(isWritable: boolean): void;
  /** Called with the numbers of open and closed days in the index. */
  days(counts: { readonly open: number; readonly closed: number }): void;
}

/** Telemetry that discards every event. */
const noTelemetry: ArchiveTelemetry = {
  line: () => undefined,
  complete: () => undefined,
  withheld: () => undefined,
  damaged: () => undefined,
  writable: () => undefined,
  days: () => undefined,
};

interface Failure {
  readonly at: number;
  readonly reason: FailureReason;
}

/** Archives the published bodies once an hour. It does nothing until the first call of `tick`. */
export class Archiver {
  readonly #options: ArchiverOptions & { readonly telemetry: ArchiveTelemetry };
  /** Last archived line of each fact. A fact has no entry until its file has been read. */
  readonly #archived = new Map<FactName, LastLine>();
  /** Last failure to archive each fact. A fact has no entry once it is archived or the failure is recorded. */
  readonly #failures = new Map<FactName, Failure>();
  readonly #memo = new Memo();
  #settledHour = '';
  /** True if the days do not include every line yet, or were not updated in the current hour. */
  #isUnsettled = false;
  #isFirstTick = true;
  #isWritable = true;
  /** Comparison with the facts API's clock. Days are closed only in an hour in which the clocks agreed. */
  readonly #clocks = new ClockComparison();

  constructor(options: ArchiverOptions) {
    this.#options = { telemetry: noTelemetry, ...options };
  }

  /**
   * Archives the bodies of the current hour that are not archived yet, and updates the days. Does nothing while the
   * clock shows a closed day, or may differ from the facts API's clock. Resolves with the number of milliseconds until the
   * next call is due. If a file cannot be written, logs the error and leaves the file to a later call. Rejects with
   * OperatorError if the log must not be continued.
   */
  async tick(): Promise<number> {
    const now = this.#options.clock();
    const hour = hourOf(now);
    // Record the failures of past hours first, so that the lines of a file stay in the order of their hours.
    if (!this.#recordFailures(hour)) return retryMs;
    let isComplete = true;
    if (hour !== this.#settledHour) this.#isUnsettled = true;
    const last = this.#options.dayLog.leaves().at(-1)?.day;
    if (last !== undefined && dayOf(now) <= last) {
      this.#options.log.warn('the clock shows a day that is already closed, so nothing is archived: check the clock', {
        closed: last,
      });
      return retryMs;
    }
    if (this.#isFirstTick) this.#reportPause(now);
    this.#isFirstTick = false;
    for (const name of factNames) {
      if (this.#hasHour(name, now)) continue;
      const isArchived = await this.#archive(name);
      this.#isUnsettled ||= isArchived;
      if (this.#clocks.isDifferent()) return retryMs;
      isComplete &&= isArchived;
    }
    // With a clock that is ahead, the days would state hours that are still to come.
    if (this.#clocks.isInDoubt(now)) return retryMs;
    if (this.#isUnsettled && !this.#settle()) return retryMs;
    this.#isUnsettled = false;
    this.#settledHour = hour;
    if (isComplete) this.#options.telemetry.complete();
    return this.#delay(isComplete);
  }

  /**
   * Warns if a day became due for closing during a pause: the directory may be an older copy of the archive, which
   * must not continue the log silently.
   */
  #reportPause(now: number): void {
    const since = pausedSince(this.#options.files, this.#options.dayLog, now);
    if (since === null) return;
    this.#options.log.warn(
      'a day became due for closing while the archive was not being written: if this is an older copy, stop it and restore the newest one, because its log would contradict the published log',
      { since },
    );
  }

  #delay(isComplete: boolean): number {
    if (!isComplete) return retryMs;
    const now = this.#options.clock();
    return hourMs - (now % hourMs) + Math.floor(this.#options.random() * spreadMs);
  }

  /** Records each fact that had no response in a past hour. Returns false if a line could not be written. */
  #recordFailures(hour: string): boolean {
    for (const [name, { at, reason }] of this.#failures) {
      if (hourOf(at) >= hour) continue;
      if (!this.#append(name, at, formatFailure(archivedFacts[name], at, reason))) return false;
      this.#failures.delete(name);
    }
    return true;
  }

  async #archive(name: FactName): Promise<boolean> {
    const { clock, fetchFact, log, telemetry } = this.#options;
    const path = archivedFacts[name];
    const at = clock();
    // The hour may have ended during the requests before this one.
    if (!this.#recordFailures(hourOf(at))) return false;
    const isLater = this.#lastLine(name, at).at > at + maxClockDifferenceMs;
    const fetched = await fetchFact(path);
    this.#compareClocks(path, at, fetched);
    if (fetched.kind === 'failure') {
      const isCertain = !isLater && !this.#clocks.isDifferent() && !this.#clocks.isInDoubt(at);
      if (isCertain) return this.#fail(name, at, fetched.failure);
      // The failure is not recorded, because its hour is in doubt.
      telemetry.line(name, fetched.failure);
      return false;
    }
    if (this.#clocks.isDifferent()) return false;
    // Without a comparison, the clock may be wrong now, and the later lines right.
    if (isLater && (fetched.date === null || !this.#removeLater(name, at))) return false;
    const identity = this.#options.findIdentity(fetched.served.body);
    if (identity !== null) {
      log.error('a published body contains an identity and was not archived', { path, why: identity });
      telemetry.withheld(lineFileOf(name));
      telemetry.line(name, 'withheld');
      return this.#append(name, at, formatFailure(path, at, 'withheld'));
    }
    return this.#keep(name, at, fetched.served);
  }

  /** Compares this machine's clock with the facts API's clock. Logs a warning once they differ. */
  #compareClocks(path: string, at: number, fetched: FetchedFact): void {
    const wasDifferent = this.#clocks.isDifferent();
    const date = (fetched.kind === 'failure' ? fetched.expiredDate : fetched.date) ?? null;
    if (date === null) return;
    if (fetched.kind === 'failure') this.#clocks.compareExpired(path, { at, date });
    else this.#clocks.compare({ at, date });
    if (wasDifferent || !this.#clocks.isDifferent()) return;
    this.#options.log.warn(
      'the local clock differs from the clock of the facts API, so nothing is archived: check both clocks',
      { service: new Date(date).toISOString() },
    );
  }

  /**
   * Removes the lines that are later than the time `at`. They were written while the clock was ahead, and no line of this
   * hour could follow them. Returns false if the file cannot be written.
   */
  #removeLater(name: FactName, at: number): boolean {
    const { files, log } = this.#options;
    const path = pathOf(dayOf(at), lineFileOf(name));
    const kept = this.#linesUntil(name, at);
    // The record of a day does not list an empty file.
    const change = kept === '' ? () => files.remove(path) : () => files.replace(path, Buffer.from(kept));
    if (!this.#write(change)) return false;
    log.warn('lines that were archived while the clock was ahead were removed', { path });
    return true;
  }

  #keep(name: FactName, at: number, served: ServedResponse): boolean {
    const line = formatResponse(archivedFacts[name], at, served);
    if (line === null) return this.#fail(name, at, 'unusable');
    const isArchived = this.#append(name, at, line);
    if (isArchived) this.#options.telemetry.line(name, 'archived');
    return isArchived;
  }

  #fail(name: FactName, at: number, reason: FailureReason): false {
    if (!this.#failures.has(name)) this.#options.log.warn('a fact cannot be archived yet', { fact: name, reason });
    this.#failures.set(name, { at, reason });
    this.#options.telemetry.line(name, reason);
    return false;
  }

  #append(name: FactName, at: number, line: string): boolean {
    const path = pathOf(dayOf(at), lineFileOf(name));
    if (!this.#write(() => this.#options.files.append(path, Buffer.from(line)))) return false;
    this.#archived.set(name, { hour: hourOf(at), at });
    this.#failures.delete(name);
    return true;
  }

  #settle(): boolean {
    const { files, dayLog, findIdentityIn, readHours, clock, log, telemetry } = this.#options;
    const damaged = new Set<string>();
    const onDamage = (path: string): void => {
      log.error('an archive file is damaged and was ignored; restore it from a copy of the archive', { path });
      damaged.add(path);
    };
    const onIdentity = (path: string, why: string): void => {
      log.error('an archive file contains an identity and was not written', { path, why });
      telemetry.withheld(path);
    };
    const onUnusable = (path: string): void =>
      log.error('the hours of an instrument cannot be written as an archive file and were not archived', { path });
    const onFuture = (name: string): void =>
      log.warn('an hours file is dated in the future and was not archived: check the clocks', { file: name });
    const now = clock();
    const mayClose = this.#clocks.isConfirmed(now);
    const upkeep = {
      ...{ files, log: dayLog, memo: this.#memo, hours: readHours() },
      ...{ findIdentityIn, onDamage, onIdentity, onUnusable, onFuture },
    };
    const isSettled = this.#write(() => telemetry.days(settleDays(upkeep, now, mayClose)));
    telemetry.damaged(damaged.size);
    return isSettled;
  }

  /** Runs a step that writes files. Returns false on a system error, and logs only the first of consecutive errors. */
  #write(step: () => void): boolean {
    const { log, telemetry } = this.#options;
    try {
      step();
    } catch (error) {
      if (systemCode(error) === null || error instanceof OperatorError) throw error;
      if (this.#isWritable)
        log.error('the archive cannot be written; writing will be retried', { why: systemWords(error) });
      this.#isWritable = false;
      telemetry.writable(false);
      return false;
    }
    if (!this.#isWritable) log.info('the archive can be written again');
    this.#isWritable = true;
    telemetry.writable(true);
    return true;
  }

  /**
   * Returns true if a fact has a line of the current hour. Lines that are later than the clock may precede the time at
   * which it was set back, or be left from a time when it was ahead. In the first case, the current hour usually has its
   * line.
   */
  #hasHour(name: FactName, now: number): boolean {
    const last = this.#lastLine(name, now);
    if (last.hour < hourOf(now)) return false;
    return last.at <= now + maxClockDifferenceMs || lastLineIn(this.#linesUntil(name, now)).hour === hourOf(now);
  }

  /** Returns the last line of a fact in the file of the current day. */
  #lastLine(name: FactName, now: number): LastLine {
    const known = this.#archived.get(name);
    if (known && dayOf(known.at) === dayOf(now) && known.at <= now + maxClockDifferenceMs) return known;
    const last = lastLineIn(this.#textOf(name, now));
    this.#archived.set(name, last);
    return last;
  }

  /** Returns the lines of the current day that are not of a later hour, nor later than the clock by more than the limit. */
  #linesUntil(name: FactName, now: number): string {
    const hourEnd = Math.floor(now / hourMs) * hourMs + hourMs;
    return withoutLater(this.#textOf(name, now), Math.min(now + maxClockDifferenceMs, hourEnd - 1));
  }

  #textOf(name: FactName, now: number): string {
    return this.#options.files.read(pathOf(dayOf(now), lineFileOf(name)))?.toString('utf8') ?? '';
  }
}

/** Minimum age of the last archived hour at which the archive counts as paused, in milliseconds. */
const pauseMs = 2 * hourMs;

/**
 * Returns the last archived hour if it is at least two hours ago and a day has since become due for closing;
 * otherwise null. After such a pause, the directory may be an older copy: the original may have kept running, and may
 * already have closed and published the day with other files.
 */
function pausedSince(files: ArchiveFiles, log: DayLog, now: number): string | null {
  const last = lastArchivedHour(files);
  const closed = log.leaves().at(-1)?.day;
  const next = closed === undefined ? files.days()[0] : addDays(closed, 1);
  if (last === null || next === undefined || now - Date.parse(last) < pauseMs) return null;
  return closesAt(next) > Date.parse(last) && closesAt(next) <= now ? last : null;
}

function lastArchivedHour(files: ArchiveFiles): string | null {
  for (const day of files.days().toReversed()) {
    const hours = factNames.map(
      (name) => lastLineIn(files.read(pathOf(day, lineFileOf(name)))?.toString('utf8') ?? '').hour,
    );
    const last = hours.sort().at(-1) ?? '';
    if (last !== '') return last;
  }
  return null;
}
