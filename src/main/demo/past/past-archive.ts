import { randomBytes } from 'node:crypto';
import { resolve } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { type Archiver, type ArchiverOptions, createArchiver } from '../../../archive/archiver.ts';
import { dayMs, hourMs } from '../../../archive/days/calendar.ts';
import { formatIssues, issuesFile } from '../../../archive/days/known-issues.ts';
import type { ArchiveFiles } from '../../../archive/files/archive-files.ts';
import { keptInFile, openDayLog } from '../../../archive/signing/day-log.ts';
import { readOrCreateKey } from '../../../archive/signing/key-file.ts';
import { noTelemetry } from '../../../archive/telemetry.ts';
import { formatTimestamp } from '../../../contract/timestamp.ts';
import { makeFolder } from '../../../ops/folder.ts';
import { createLog } from '../../../ops/log.ts';
import { openStoreReader } from '../../../store/open.ts';
import { micros } from '../../../store/time.ts';
import { openWindowStore } from '../../../weather/window/window-store.ts';
import { openFiles, takeLock } from '../../archive/archive-folder.ts';
import { findIdentity, findIdentityIn } from '../../archived-identity.ts';
import { storeOf } from '../../up/observatory-parts.ts';
import { heldFiles } from './held-files.ts';
import { pastFacts } from './past-facts.ts';
import { PastLabelInstrument, type PastLabels } from './past-labels.ts';
import { type PastWeather, pastWeatherInstrument } from './past-weather.ts';

/** Number of days before today that the archive contains. The two newest of them are open. */
const pastDays = 10;
/**
 * Delay after the start of an hour at which its facts are archived, in milliseconds. After this delay, the hours
 * files include the previous hour.
 */
const afterHourMs = 90_000;
/** Name of the log of closed days, which its checkpoints contain. */
const logName = 'almanac-demo-simulated';

/** Options for archiving a simulated past. */
export interface PastArchive {
  /** Directory of the demo, which contains the label store of the whole past. */
  readonly data: string;
  /** Directory that contains a copy of the weather store. */
  readonly scratch: string;
  /** Directory to create for the archive. It must not exist yet. */
  readonly archive: string;
  /** Endpoint of the simulated host, in the form that the weather instrument stores. */
  readonly endpoint: string;
  /** End of the past, in microseconds since 1970. From this time on, the instruments observe. */
  readonly endUs: number;
  /** Called once the first hour is archived; the archive can then be shown. */
  readonly begun: () => void;
}

/**
 * Archives the simulated past as a running archiver would have done: hour by hour, with the facts, hours files and
 * gaps as of each hour. The demo's own archiver archives the present hour and continues with the same key.
 */
export async function writePastArchive(past: PastArchive): Promise<void> {
  const { data, scratch, archive, endpoint, endUs, begun } = past;
  makeFolder(archive);
  const lock = takeLock(archive);
  const store = await openStoreReader(storeOf(data));
  const windows = openWindowStore(scratch);
  try {
    const hours = hoursUntil(endUs / 1000);
    const files = heldFiles(openFiles(archive));
    files.replace(issuesFile, simulatedIssue(hours[0] ?? endUs / 1000));
    const observatory = pastObservatory(
      await PastLabelInstrument.open(store),
      pastWeatherInstrument(windows, endpoint),
    );
    const archiver = openArchiver(archive, files, observatory);
    for (const [place, now] of hours.entries()) {
      await observatory.advance(now);
      await archiver.tick();
      if (place % 24 === 0 || place === hours.length - 1) {
        files.flush();
        begun();
      }
      await nextTurn();
    }
  } finally {
    windows.close();
    await store.close();
    lock.release();
  }
}

/** The simulated observatory at one time in the past, as an archiver would have seen it at that time. */
interface PastObservatory extends Pick<ArchiverOptions, 'clock' | 'fetchFact' | 'readHours'> {
  /** Sets the clock to `now`, in milliseconds since 1970, and publishes the artifacts of that time. */
  advance(now: number): Promise<void>;
}

function pastObservatory(labels: PastLabelInstrument, weatherAt: (now: number) => PastWeather): PastObservatory {
  let shown: { readonly now: number; readonly labels: PastLabels; readonly weather: PastWeather } | null = null;
  const current = () => {
    if (shown === null) throw new Error('the demo has no facts to archive');
    return shown;
  };
  const facts = pastFacts(() => ({ labels: current().labels.overview, weather: current().weather.summary }));
  return {
    clock: () => current().now,
    fetchFact: (path) => Promise.resolve(facts(path, current().now)),
    readHours: () => ({ weather: current().weather.hours, labels: current().labels.hours }),
    async advance(now) {
      shown = { now, labels: await labels.at(micros(now * 1000)), weather: weatherAt(now) };
    },
  };
}

/** Returns the times at which the hours before `end` are archived, in milliseconds since 1970. */
function hoursUntil(end: number): number[] {
  const present = end - (end % hourMs);
  const first = end - (end % dayMs) - pastDays * dayMs;
  return Array.from({ length: (present - first) / hourMs }, (_, hour) => first + hour * hourMs + afterHourMs);
}

/**
 * Returns the list of known issues. Every day and its gap manifest repeat the list, so that a copied file still states
 * that it is simulated.
 */
function simulatedIssue(from: number): Buffer {
  const start = formatTimestamp(Math.floor(from / hourMs) * hourMs);
  const summary = 'Simulated by the demo: every value of this archive comes from a simulated network.';
  return formatIssues([{ id: 'simulated', reported_at: start, source: 'archive', start, end: null, summary }]);
}

function openArchiver(
  archive: string,
  files: ArchiveFiles,
  { clock, fetchFact, readHours }: PastObservatory,
): Archiver {
  const path = `${resolve(archive)}.key`;
  const key = readOrCreateKey({ path, name: logName, mayCreate: true, random: randomBytes });
  return createArchiver({
    ...{ files, clock, fetchFact, readHours, findIdentity, findIdentityIn },
    dayLog: openDayLog({ files, key, kept: keptInFile(`${path}.checkpoint`) }),
    key: key.verifier.text,
    random: () => 0,
    log: createLog('archive', 'warn'),
    telemetry: noTelemetry,
  });
}
