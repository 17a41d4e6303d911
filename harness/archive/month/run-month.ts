import { dayOf, hourMs, hourOf } from '../../../src/archive/days/calendar.ts';
import { formatIssues, issuesFile, issuesSchema } from '../../../src/archive/days/known-issues.ts';
import { indexFile, parseIndex } from '../../../src/archive/days/records.ts';
import type { FetchedFact } from '../../../src/archive/fetch-fact.ts';
import type { HoursReading, HoursReadings } from '../../../src/archive/hours/hour-lists.ts';
import { decodeHours } from '../../../src/artifact/hours/hours.ts';
import { recogniseLabelsHours } from '../../../src/artifact/hours/labels-hours.ts';
import { recogniseWeatherHours } from '../../../src/artifact/hours/weather-hours.ts';
import type { Recogniser } from '../../../src/artifact/reading.ts';
import { errorBody } from '../../../src/contract/errors.ts';
import { findIdentity, findIdentityIn } from '../../../src/main/archived-identity.ts';
import { diskFull, memoryArchive } from '../memory-files.ts';
import { publishedFact, type SimulatedArchive, served, simulateArchive, simulatedStart } from '../simulated-archive.ts';
import { simulatedFiles } from '../simulated-hours.ts';
import { MonthOracle } from './oracle.ts';
import * as plan from './plan.ts';

/** Delay before the archiver repeats a failed call, in milliseconds. */
const retryMs = 60_000;
/** Maximum number of calls per hour. */
const maxCalls = 4;

/**
 * Outcome of the last request for a fact in one hour: the HTTP status, `unreachable` if there was no response, or
 * `withheld` if the body contained an identity.
 */
type Outcome = number | 'unreachable' | 'withheld';

/** The archive of a month, together with the oracle and the record of the simulated service. */
export interface SimulatedMonth {
  readonly archive: SimulatedArchive;
  readonly oracle: MonthOracle;
  /** Outcomes by path and hour, without entries for hours in which the archiver did not run. */
  readonly outcomes: ReadonlyMap<string, Outcome>;
  /** Time of the call that closed a day, by day. */
  readonly closedAt: ReadonlyMap<string, number>;
  readonly kills: number;
  readonly fullDisks: number;
}

/** Runs the archiver for a month that contains every fault. */
export async function runMonth(): Promise<SimulatedMonth> {
  const month = new Month();
  for (let hour = 0; hour < plan.monthHours; hour++) await month.hour(hour);
  return month;
}

class Month implements SimulatedMonth {
  readonly oracle = new MonthOracle();
  readonly outcomes = new Map<string, Outcome>();
  readonly closedAt = new Map<string, number>();
  readonly archive: SimulatedArchive;
  kills = 0;
  fullDisks = 0;
  readonly #killed = new Error('killed');
  readonly #full = diskFull();

  constructor() {
    this.archive = simulateArchive({
      memory: memoryArchive(),
      respond: (path, now) => this.#respond(path, now),
      hours: (now) => this.#files(now),
      ...{ findIdentity, findIdentityIn },
    });
  }

  async hour(hour: number): Promise<void> {
    let now = simulatedStart + hour * hourMs + 5_000;
    if (plan.isWithin(now, plan.stops)) {
      this.archive.restart();
      return;
    }
    if (hour % 50 === 7) this.archive.restart();
    this.#plantIssue(hour);
    const interruption = plan.interruptionOf(hour);
    if (interruption) {
      const { after, effect } = interruption;
      const isFull = effect === 'full';
      const fault = isFull ? { effect: 'nothing' as const, error: this.#full } : { effect, error: this.#killed };
      this.archive.failAt(this.archive.writes() + after, fault);
    }
    for (let call = 0; call < maxCalls && (await this.#call(now)); call++) now += retryMs;
    this.#noteClosed(now);
  }

  /** Calls the archiver. Returns true if it must be called again within the hour. */
  async #call(now: number): Promise<boolean> {
    try {
      const messages = this.archive.messages.length;
      const delay = await this.archive.tickAt(now);
      const news = this.archive.messages.slice(messages);
      this.fullDisks += news.filter(({ message }) => message.startsWith('the archive cannot be written')).length;
      return delay === retryMs;
    } catch (error) {
      if (error !== this.#killed) throw error;
      this.kills += 1;
      this.archive.restart();
      return true;
    }
  }

  #noteClosed(now: number): void {
    const index = parseIndex(this.archive.content.get(indexFile) ?? Buffer.alloc(0));
    for (const { day, state } of index?.days ?? []) {
      if (state !== 'closed' || this.closedAt.has(day)) continue;
      this.closedAt.set(day, now);
      this.oracle.closed(day);
    }
  }

  /** Simulates an operator who names an account in the list of known issues and corrects the list hours later. */
  #plantIssue(hour: number): void {
    const [reported_at, end] = [hourOf(plan.at(2, 1)), hourOf(plan.at(2, 9))];
    const issue = { id: 'late', reported_at, source: 'labels', start: hourOf(plan.at(1, 1)), end } as const;
    const bad = { ...issue, summary: `Caused by ${plan.planted.did}.` };
    if (hour === 40)
      this.archive.content.set(issuesFile, Buffer.from(JSON.stringify({ schema: issuesSchema, issues: [bad] })));
    if (hour === 44) this.archive.content.set(issuesFile, formatIssues([{ ...issue, summary: 'Counted twice.' }]));
  }

  #respond(path: string, now: number): FetchedFact {
    const hour = Math.floor((now - simulatedStart) / hourMs);
    const isPlanted = plan.plantedHours[path]?.includes(hour) ?? false;
    const response = responseOf(path, now, isPlanted ? hour : null);
    const outcome = response.kind === 'failure' ? 'unreachable' : isPlanted ? 'withheld' : response.served.status;
    this.outcomes.set(`${path} ${hourOf(now)}`, outcome);
    return response;
  }

  /** Returns the hours files of both instruments, and records in the oracle which of them the archiver can use. */
  #files(now: number): HoursReadings {
    const weather = fileOf('weather', now);
    const labels = fileOf('labels', now);
    const overview = this.outcomes.get(`/v1/labels/overview ${hourOf(now)}`);
    const isReleased = overview === 200 || plan.isWithin(now, plan.staleTimes);
    const isHeld = plan.isWithin(labels.madeAt, plan.holds);
    const isUsable = !plan.isWithin(now, plan.aheadTimes);
    this.oracle.copied('weather', weather.reading.kind === 'readable' && isUsable ? weather.madeAt : null);
    const isLabelsUsable = labels.reading.kind === 'readable' && isUsable && isReleased && !isHeld;
    this.oracle.copied('labels', isLabelsUsable ? labels.madeAt : null);
    return { weather: weather.reading, labels: labels.reading } as HoursReadings;
  }
}

/** Returns the result of reading an instrument's file, and the time at which the file was written. */
function fileOf(instrument: 'weather' | 'labels', now: number) {
  const lost = plan.lostFiles[instrument].find((one) => plan.isWithin(now, [one]));
  const stopped = plan.frozen[instrument].find((one) => plan.isWithin(now, [one]));
  const madeAt = stopped?.start ?? now;
  if (lost && lost.reason !== 'malformed')
    return { madeAt, reading: { kind: 'failure' as const, reason: lost.reason } };
  const { weather, labels } = simulatedFiles(madeAt, {
    hosts: plan.hostsAt(madeAt),
    labels: plan.labelGaps.filter(({ labeler }) => isListed(labeler, madeAt)),
    labelers: plan.listedLabelers(madeAt).map(({ did }) => did),
    epoch: plan.epochAt(madeAt),
  });
  const generated = plan.isWithin(now, plan.aheadTimes)
    ? { generated_at: new Date(now + 10 * 24 * hourMs).toISOString() }
    : {};
  const more = { ...generated, note: plan.planted.did, handle: plan.planted.handle };
  if (instrument === 'weather') {
    const series = weather.series.map((one) => ({
      ...one,
      endpoint: `${one.endpoint}/${plan.planted.did}`,
      ...more,
    }));
    return { madeAt, reading: readingOf({ ...weather, series, ...more }, recogniseWeatherHours) };
  }
  const listed = labels.labelers.map((one) => ({ ...one, handle: plan.planted.handle }));
  const file = { ...labels, labelers: listed, ...more, hold: plan.isWithin(madeAt, plan.holds) };
  return {
    madeAt,
    reading: readingOf(lost ? { ...file, hours: [] as object[], through: 'no time' } : file, recogniseLabelsHours),
  };
}

function isListed(labeler: string | undefined, now: number): boolean {
  return labeler === undefined || plan.listedLabelers(now).some(({ did }) => did === labeler);
}

/** Decodes a file from its bytes, as the archiver does. */
function readingOf<A>(file: object, recognise: Recogniser<A>): HoursReading<A> {
  const reading = decodeHours(Buffer.from(JSON.stringify(file)), recognise);
  return reading.kind === 'readable' ? reading : { kind: 'failure', reason: 'malformed' };
}

/** Returns the response of the service. `planted` is the hour of a body that contains an identity, or null. */
function responseOf(path: string, now: number, planted: number | null): FetchedFact {
  if (plan.isWithin(now, plan.apiStops)) return { kind: 'failure', failure: 'unreachable' };
  if (planted !== null) return plantedBody(path, now, planted);
  const isOverview = path === '/v1/labels/overview';
  if (isOverview && plan.isWithin(now, plan.staleTimes)) return served(errorBody('source_stale'), 503);
  const known = plan.labelGaps.filter(({ labeler, start, knownAt = start }) => labeler === undefined && knownAt <= now);
  const gaps = known.flatMap(({ start, end }) => {
    const to = Math.min(end, now);
    const iso = (at: number): string => new Date(at).toISOString();
    return start < to ? [{ start: iso(start), end: iso(to), reason: 'ingest_paused' }] : [];
  });
  return publishedFact(path, { now, gaps, isHeld: plan.isWithin(now, plan.holds) });
}

/** Returns a body that contains an identity: within a text field, in an AT-URI, or in a proxy's error page. */
function plantedBody(path: string, now: number, hour: number): FetchedFact {
  const { did, handle } = plan.planted;
  const whole = publishedFact(path, { now });
  if (whole.kind === 'failure') return whole;
  const value = JSON.parse(Buffer.from(whole.served.body).toString('utf8')) as object;
  if (hour % 3 === 0) return served({ ...value, note: `the account @${handle}` });
  if (hour % 3 === 1) return served({ ...value, subjects: [{ uri: `at://${did}/app.bsky.feed.post/3kabc` }] });
  return { ...whole, served: { ...whole.served, status: 502, body: Buffer.from(`<p>${did}</p>`) } };
}

/** Returns the days of the month whose tables are compared. */
export function comparedDays(): string[] {
  return Array.from({ length: plan.monthDays }, (_, day) => dayOf(plan.at(day, 0)));
}
