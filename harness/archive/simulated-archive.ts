import { Archiver, type ArchiverOptions, type ArchiveTelemetry } from '../../src/archive/archiver.ts';
import { hourMs } from '../../src/archive/days/calendar.ts';
import type { FetchedFact } from '../../src/archive/fetch-fact.ts';
import type { HoursReadings } from '../../src/archive/hours/hour-lists.ts';
import { DayLog } from '../../src/archive/log/day-log.ts';
import { type SignerKey, signerKey } from '../../src/archive/log/note.ts';
import { type VerifyOptions, type VerifyReport, verifyArchive } from '../../src/archive/verify/verify.ts';
import { errorBody } from '../../src/contract/errors.ts';
import { type Log, type LogFields, silentLog } from '../../src/ops/log.ts';
import { type MemoryArchive, memoryArchive } from './memory-files.ts';
import { simulatedHours } from './simulated-hours.ts';

/** Start of a simulated archive, in milliseconds since 1970. */
export const simulatedStart = Date.parse('2026-11-20T00:00:00Z');

/** Key that signs simulated archives. */
export const simulatedKey: SignerKey = signerKey('test.example/archive', Buffer.alloc(32, 5));

/** Options for a simulated archive. */
export interface SimulationOptions {
  /** Returns the response for a path at time `now`. By default, the service has no gaps. */
  readonly respond?: (path: string, now: number) => FetchedFact;
  /**
   * Creates the function that requests a path, with the archiver's clock and a function that advances it; by default one
   * that calls `respond`.
   */
  readonly fetcher?: (clock: () => number, advance: (ms: number) => void) => ArchiverOptions['fetchFact'];
  /** Returns the time in the service's `Date` header; by default the archiver's time. */
  readonly serviceClock?: (now: number) => number | null;
  readonly findIdentity?: (body: Uint8Array) => string | null;
  readonly findIdentityIn?: (name: string, value: object) => string | null;
  /** Returns the hours files at time `now`. By default, the instruments have no gaps. */
  readonly hours?: (now: number) => HoursReadings | null;
  readonly telemetry?: ArchiveTelemetry;
  /** Files of the archive; empty by default. */
  readonly memory?: MemoryArchive;
}

/** An archive in memory, with a clock that the test sets. */
export interface SimulatedArchive extends MemoryArchive {
  /** Log messages of the archiver. */
  readonly messages: { readonly message: string; readonly fields: LogFields }[];
  /** Archives the hour that contains `now`, in milliseconds since 1970. Resolves with the delay until the next call. */
  tickAt(now: number): Promise<number>;
  /** Archives a number of hours, starting `fromHour` hours after `simulatedStart`. */
  run(hours: number, fromHour?: number): Promise<void>;
  /** Restarts the archiver, as if a new process used the same directory. */
  restart(key?: SignerKey): void;
  /** Verifies the archive; by default at the time of the last tick and without a kept checkpoint. */
  verify(options?: Partial<VerifyOptions>): Promise<VerifyReport>;
}

/** Creates a simulated archive in memory. */
export function simulateArchive(options: SimulationOptions = {}): SimulatedArchive {
  const { respond = (path, at) => publishedFact(path, { now: at }), findIdentity = () => null } = options;
  const { findIdentityIn = () => null, hours = (at) => simulatedHours(at), telemetry } = options;
  const { serviceClock = (at) => at, memory = memoryArchive() } = options;
  const { files, kept, reader } = memory;
  const messages: { message: string; fields: LogFields }[] = [];
  let key = simulatedKey;
  let now = simulatedStart;
  let archiver: Archiver | null = null;
  const fetchFact =
    options.fetcher?.(
      () => now,
      (ms) => {
        now += ms;
      },
    ) ??
    ((path: string): Promise<FetchedFact> => {
      const fetched = respond(path, now);
      return Promise.resolve(fetched.kind === 'response' ? { ...fetched, date: serviceClock(now) } : fetched);
    });
  const opened = (): Archiver =>
    new Archiver({
      files,
      dayLog: new DayLog({ files, key, kept }),
      fetchFact,
      findIdentity,
      findIdentityIn,
      readHours: () => hours(now),
      clock: () => now,
      random: () => 0,
      log: recordingLog(messages),
      ...(telemetry && { telemetry }),
    });
  const tickAt = async (at: number): Promise<number> => {
    now = at;
    archiver ??= opened();
    return archiver.tick();
  };
  return {
    ...memory,
    messages,
    tickAt,
    async run(hours, fromHour = 0) {
      for (let hour = fromHour; hour < fromHour + hours; hour++) await tickAt(simulatedStart + hour * hourMs + 5_000);
    },
    restart(changed = key) {
      key = changed;
      archiver = null;
    },
    verify: (changed = {}) =>
      verifyArchive({ reader, key: null, kept: null, now, wait: () => Promise.resolve(), ...changed }),
  };
}

function recordingLog(messages: { message: string; fields: LogFields }[]): Log {
  const record = (message: string, fields: LogFields = {}): void => void messages.push({ message, fields });
  return { ...silentLog, warn: record, error: record, info: record };
}

/** Bodies of a simulated facts service. They contain the fields from which the archive computes gaps. */

/** State of the simulated service at one time. */
export interface PublishedState {
  /** Time of the state, in milliseconds since 1970. */
  readonly now: number;
  /** Gaps of the label instrument. */
  readonly gaps?: readonly { readonly start: string; readonly end: string; readonly reason: string }[];
  /** Number of observed seconds in the last 24 hours of weather. */
  readonly observedSeconds?: number;
  /** True while the operator holds the label facts. */
  readonly isHeld?: boolean;
}

/** Returns the response of the simulated service for a path. */
export function publishedFact(path: string, state: PublishedState): FetchedFact {
  const { now, gaps = [], observedSeconds = 86_400, isHeld = false } = state;
  const [start, end] = [new Date(now - 24 * hourMs), new Date(now)].map((at) => at.toISOString());
  const window = { start, end, span_seconds: 86_400, observed_seconds: observedSeconds };
  const common = { contract: path.slice(1), retrieved_at: end };
  switch (path) {
    case '/v1/labels/overview':
      if (isHeld) return served(errorBody('source_held'), 503);
      return served({ ...common, facts: { coverage: { warmup: null, gaps } } });
    case '/v1/instruments':
      return served({ ...common, instruments: [] });
    default:
      return served({ ...common, facts: { window } });
  }
}

/** Returns a response whose body is formatted as the facts API formats it. */
export function served(body: object, status = 200): FetchedFact {
  const bytes = Buffer.from(JSON.stringify(body));
  return { kind: 'response', served: { status, body: bytes, etag: 'W/"a"', lastModified: null }, date: null };
}
