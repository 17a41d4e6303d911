import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Micros } from '../../src/contract/timestamp.ts';
import { StoreError } from '../../src/store/errors.ts';
import { openStoreReader } from '../../src/store/open.ts';
import type { StoreReader } from '../../src/store/port.ts';

/** Responses of an account process while faults are injected. */
export interface Responses {
  /** Number of requests, by status and error code, or `no response`. */
  readonly counts: ReadonlyMap<string, number>;
  /** Returns the longest time without a 200 response since the last call, in milliseconds. */
  takeLongestMs(): number;
  /**
   * Unexpected responses: a status other than 200 or 503, or a failed connection while the process should be reachable.
   */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

/** Interval between two requests, in milliseconds. */
const everyMs = 250;
/** Timeout of a request, in milliseconds. */
const maxMs = 15_000;

/**
 * Alternately requests an account's page and its export. `isDown` returns true while the process may be unreachable.
 */
export function watchResponses(url: string, account: string, isDown: () => boolean): Responses {
  const counts = new Map<string, number>();
  const problems: string[] = [];
  let [longestMs, since] = [0, performance.now()];
  let isStopped = false;
  const add = (name: string): void => void counts.set(name, (counts.get(name) ?? 0) + 1);

  async function ask(path: string): Promise<void> {
    const excused = isDown();
    try {
      const response = await fetch(`${url}${path}?did=${account}&days=7`, { signal: AbortSignal.timeout(maxMs) });
      const text = await response.text();
      const code = /store_busy|store_behind|[a-z_]+_budget|overloaded/.exec(text)?.[0] ?? '';
      add(response.status === 503 ? `503 ${code}` : String(response.status));
      if (response.status === 200) {
        longestMs = Math.max(longestMs, performance.now() - since);
        since = performance.now();
      } else if (response.status !== 503) problems.push(`${path}: ${response.status} ${text.slice(0, 300)}`);
    } catch (error) {
      add('no response');
      if (!excused && !isDown()) problems.push(`${path}: ${String(error)}`);
    }
  }

  async function run(): Promise<void> {
    for (let turn = 0; !isStopped; turn += 1) {
      await ask(turn % 2 === 0 ? '/account' : '/exports');
      await wait(everyMs);
    }
  }
  const done = run();
  return {
    counts,
    problems,
    takeLongestMs() {
      const longest = Math.max(longestMs, performance.now() - since);
      longestMs = 0;
      return longest;
    },
    stop: () => {
      isStopped = true;
      return done;
    },
  };
}

/** Row counts that servers returned while faults were injected. */
export interface Observed {
  readonly count: number;
  /** Compares the recorded counts with the final counts of the same intervals. Returns the problems. */
  compare(url: string): Promise<string[]>;
  stop(): Promise<void>;
}

type LabelerCount = Awaited<ReturnType<StoreReader['countsByLabeler']>>[number];

interface Answer {
  readonly start: Micros;
  readonly end: Micros;
  readonly counts: readonly LabelerCount[];
}

/**
 * Repeatedly reads the number of rows of each labeler up to a server's frontier. Each number must equal the final
 * number for the same interval.
 */
export async function watchCounts(url: string): Promise<Observed> {
  const answers: Answer[] = [];
  let isStopped = false;
  let reader: StoreReader = await openStoreReader(url);

  async function read(): Promise<void> {
    const { startedAt: start } = await reader.epoch();
    const { end } = await reader.frontier();
    answers.push({ start, end, counts: await reader.countsByLabeler({ start, end }) });
  }

  async function run(): Promise<void> {
    for (; !isStopped; await wait(everyMs * 2)) {
      try {
        await read();
      } catch (error) {
        if (!(error instanceof StoreError)) throw error;
      }
    }
    await reader.close();
  }
  const done = run();
  return {
    get count() {
      return answers.length;
    },
    async compare(final) {
      reader = await openStoreReader(final);
      const problems: string[] = [];
      for (const { start, end, counts } of answers) {
        const now = await reader.countsByLabeler({ start, end });
        if (!isDeepStrictEqual(sorted(now), sorted(counts)))
          problems.push(`a server reported ${total(counts)} rows before ${end}, but there are ${total(now)}`);
      }
      await reader.close();
      return problems;
    },
    stop() {
      isStopped = true;
      return done;
    },
  };
}

function sorted(counts: readonly LabelerCount[]): LabelerCount[] {
  return [...counts].sort((a, b) => (a.labeler < b.labeler ? -1 : 1));
}

function total(counts: readonly LabelerCount[]): number {
  return counts.reduce((sum, { applied, removed }) => sum + applied + removed, 0);
}
