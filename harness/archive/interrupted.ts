import { isDeepStrictEqual } from 'node:util';
import type { FetchedFact } from '../../src/archive/fetch-fact.ts';
import type { HoursReadings } from '../../src/archive/hours/hour-lists.ts';
import { diskFull, type MemoryArchive, memoryArchive, type WriteFault } from './memory-files.ts';
import { publishedFact, type SimulatedArchive, simulateArchive, simulatedStart } from './simulated-archive.ts';
import { simulatedHours } from './simulated-hours.ts';

/**
 * Number of hours before the test, and number of tested hours. A day is closed during the tested hours. Each write
 * operation in these hours can be interrupted.
 */
const [quietHours, hours] = [71, 3];

/** Kind of the interruption: a kill (named by its effect on the written file) or a full disk. */
type Interruption = WriteFault['effect'] | 'full';

/** Result of interrupting write operations. */
interface Crashes {
  /** Number of write operations in the tested hours if none is interrupted. */
  readonly operations: number;
  /**
   * Failed checks. Each entry names the interrupted operation, and the findings of the verification, the difference
   * from an uninterrupted archive, or the unexpected log messages.
   */
  readonly failures: readonly string[];
}

/**
 * Interrupts every `step`-th write operation in the hours around the closing of a day, each in a separate copy of the
 * archive.
 */
export async function crashes(interruption: Interruption, step: number): Promise<Crashes> {
  const quiet = await quietArchive();
  const expected = simulateArchive({ memory: quiet.copy() });
  await expected.run(hours, quietHours);
  const operations = expected.writes();
  const failures: string[] = [];
  for (let operation = 1; operation <= operations; operation += step) {
    const found = await interrupted(quiet, operation, faultOf(interruption));
    const { findings, closedDays } = await found.verify();
    const isSame = isDeepStrictEqual(filesOf(found.content), filesOf(expected.content));
    const isLogged = interruption !== 'full' || isDeepStrictEqual(messagesOf(found), diskMessages);
    if (findings.length > 0 || closedDays !== 1) failures.push(`operation ${operation}: ${JSON.stringify(findings)}`);
    if (!isSame) failures.push(`operation ${operation}: the files differ`);
    if (!isLogged) failures.push(`operation ${operation}: logged ${messagesOf(found).join()}`);
  }
  return { operations, failures };
}

const diskMessages = ['the archive cannot be written; writing will be retried', 'the archive can be written again'];

function messagesOf({ messages }: SimulatedArchive): string[] {
  return messages.map(({ message }) => message);
}

function faultOf(interruption: Interruption): WriteFault {
  if (interruption === 'full') return { effect: 'nothing', error: diskFull() };
  return { effect: interruption, error: new Error('killed') };
}

async function quietArchive(): Promise<MemoryArchive> {
  const archive = simulateArchive({ memory: memoryArchive() });
  // Archive only the first hour of the first day, and 24 later hours, which are needed to close that day. The other
  // hours become gaps.
  await archive.run(1);
  await archive.run(24, quietHours - 24);
  return archive.copy();
}

/** Archives the hours, with an interruption at one operation. */
async function interrupted(quiet: MemoryArchive, operation: number, fault: WriteFault): Promise<SimulatedArchive> {
  const archive = simulateArchive({ memory: quiet.copy() });
  archive.failAt(operation, fault);
  for (let hour = quietHours; hour < quietHours + hours; hour++) {
    try {
      await archive.run(1, hour);
    } catch (error) {
      if (error !== fault.error) throw error;
      archive.restart();
    }
    // Call the archiver again within the same hour; after a kill, a new process does this.
    await archive.run(1, hour);
  }
  return archive;
}

/** Returns the files of each day except `day.json`, because interruptions may change its revision number. */
function filesOf(content: ReadonlyMap<string, Buffer>): Record<string, string> {
  const files = [...content].filter(([path]) => path.startsWith('days/') && !path.endsWith('/day.json'));
  return Object.fromEntries(files.map(([path, bytes]) => [path, bytes.toString('latin1')]));
}

/**
 * Simulates the facts service and the instruments for an archiver that a test kills. The output depends only on the
 * time, so an interrupted archive can be compared with an uninterrupted archive.
 */

const hourMs = 3_600_000;

/**
 * Intervals, in hours since the start, during which the operator holds the label facts. A day is due to be closed in
 * the last interval.
 */
const heldHours = [
  [10, 16],
  [70, 76],
] as const;
/**
 * Interval, in hours since the start, during which the label instrument has no hours file. The interval is longer
 * than the time that one hours file covers.
 */
const missingHours = [[34, 120]] as const;

function isIn(spans: readonly (readonly [number, number])[], now: number): boolean {
  const hour = (now - simulatedStart) / hourMs;
  return spans.some(([from, to]) => hour >= from && hour < to);
}

/** Returns the response of the simulated facts service. */
export function killedRespond(path: string, now: number): FetchedFact {
  return publishedFact(path, { now, isHeld: isIn(heldHours, now) });
}

/** Returns the simulated hours files of both instruments. */
export function killedHours(now: number): HoursReadings {
  const { weather, labels } = simulatedHours(now);
  return { weather, labels: isIn(missingHours, now) ? { kind: 'failure', reason: 'missing' } : labels };
}
