import { computeFiles, parseInputs } from '../../src/archive/compute/compute-files.ts';
import { addDays, dayMs, dayOf, hourMs, startOf } from '../../src/archive/days/calendar.ts';
import { archivedFacts, factNames, formatResponse, lineFileOf } from '../../src/archive/days/line.ts';
import { formatDay, formatIndex, type ListedDay, pathOf, sha256Of } from '../../src/archive/days/records.ts';
import { labelsForm } from '../../src/archive/hours/labels-day.ts';
import { weatherForm } from '../../src/archive/hours/weather-day.ts';
import { dictionaryFile, formatDictionary } from '../../src/archive/tables/dictionary.ts';
import { currentEdition } from '../../src/archive/tables/editions.ts';
import { writeLoaders } from '../../src/archive/tables/loaders.ts';
import type { Edition } from '../../src/archive/tables/table.ts';
import { packagedLoader } from '../../src/main/archive/archive-process.ts';
import { type Content, signDays } from './forge.ts';
import { publishedFact, simulatedKey } from './simulated-archive.ts';
import { type SimulatedFaults, simulatedFiles } from './simulated-hours.ts';

/**
 * An archive of closed days with the same files as an archiver writes. It is generated day by day instead of hour by
 * hour, so a year takes seconds instead of an hour. `simulateArchive` runs the real archiver.
 */

/** Options for an archive of closed days. */
interface ClosedArchive {
  /** End of the archived period, in milliseconds since 1970. The last archived day is the day before this time. */
  readonly before: number;
  /** Number of archived days. */
  readonly days: number;
  readonly faults?: SimulatedFaults;
  /** Edition of the tables; by default the current one. */
  readonly edition?: Edition;
  /** Number of characters added to each archived body. */
  readonly padding?: number;
  /** Receives the files one at a time, so that they need not all fit in memory. */
  readonly write: (path: string, bytes: Buffer) => void;
}

/** Writes the archive and returns its days. */
export function writeClosedArchive({
  before,
  days,
  faults = {},
  edition = currentEdition,
  padding = 0,
  write,
}: ClosedArchive): string[] {
  const first = dayOf(before - days * dayMs);
  const names = Array.from({ length: days }, (_, at) => addDays(first, at));
  const inputs = new Map<string, Map<string, Buffer>>();
  const inputsOf = (day: string): Map<string, Buffer> => {
    const known =
      inputs.get(day) ?? (names.includes(day) ? inputsOfDay(day, faults, padding) : new Map<string, Buffer>());
    inputs.set(day, known);
    return known;
  };
  const listed = names.map((day): ListedDay => {
    const parsed = [0, 1, 2].flatMap((count) => {
      const own = inputsOf(addDays(day, count));
      return parseInputs(addDays(day, count), (name) => own.get(name) ?? null).inputs ?? [];
    });
    const computed = computeFiles(day, parsed, startOf(day) + dayMs, { edition });
    const all = [...inputsOf(day), ...computed.map(({ name, bytes }) => [name, bytes] as const)];
    inputs.delete(day);
    const files = all.map(([name, bytes]) => ({ name, bytes: bytes.length, sha256: sha256Of(bytes) }));
    const record = { day, state: 'closed', reason: null, revision: 1, previous: null, files, withheld: [] } as const;
    const bytes = formatDay(record);
    for (const [name, own] of all) write(pathOf(day, name), own);
    write(pathOf(day, 'day.json'), bytes);
    return { day, state: 'closed', sha256: sha256Of(bytes) };
  });
  const log: Content = new Map([['index.json', formatIndex({ key: simulatedKey.verifier.text, days: listed })]]);
  signDays(log, listed, simulatedKey);
  for (const [path, own] of log) write(path, own);
  if (edition === currentEdition) {
    write(dictionaryFile, formatDictionary(first));
    writeLoaders({ read: () => null, replace: write }, packagedLoader);
  }
  return names;
}

function inputsOfDay(day: string, faults: SimulatedFaults, padding: number): Map<string, Buffer> {
  const made = startOf(day) + dayMs + 2 * 60_000;
  const { weather, labels } = simulatedFiles(made, faults);
  const files = new Map<string, Buffer>();
  for (const fact of factNames) {
    const path = archivedFacts[fact];
    const lines = Array.from({ length: 24 }, (_, hour) => {
      const now = startOf(day) + hour * hourMs + 5_000;
      const fetched = publishedFact(path, { now });
      if (fetched.kind === 'failure') return '';
      const body = JSON.parse(Buffer.from(fetched.served.body).toString('utf8')) as object;
      const padded = Buffer.from(JSON.stringify({ ...body, padding: 'x'.repeat(padding) }));
      return formatResponse(path, now, { ...fetched.served, body: padded }) ?? '';
    });
    files.set(lineFileOf(fact), Buffer.from(lines.join('')));
  }
  files.set(weatherForm.name, weatherForm.format(weatherForm.merge(weatherForm.unknown(day), weather)));
  files.set(labelsForm.name, labelsForm.format(labelsForm.merge(labelsForm.unknown(day), labels)));
  return files;
}
