import { setTimeout as wait } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import type { Micros } from '../../src/contract/timestamp.ts';
import { StoreError } from '../../src/store/errors.ts';
import { openStoreReader } from '../../src/store/open.ts';
import type { StoreReader } from '../../src/store/port.ts';

/** Responses of an account process while faults happen. */
export interface Responses {
  /** Number of responses by status and code. */
  readonly counts: ReadonlyMap<string, number>;
  /** Returns the longest time in milliseconds without a response 200 since the last call. */
  takeLongestMs(): number;
  /** Responses other than 200 and 503, and failed connections outside `excused`. */
  readonly problems: readonly string[];
  stop(): Promise<void>;
}

/** Interval between two requests, in milliseconds. */
const everyMs = 250;
/** Maximum time of a response, in milliseconds. */
const maxMs = 15_000;

/** Requests an account's page and export in turn. `isDown` returns true while the process may be unreachable. */
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

/** Numbers of rows that a standby returned while faults happened. */
export interface Observed {
  readonly count: number;
  /** Compares them with those of the same intervals at the end. */
  compare(url: string): Promise<string[]>;
  stop(): Promise<void>;
}

type LabelerCount = Awaited<ReturnType<StoreReader['countsByLabeler']>>[number];

interface Answer {
  readonly start: Micros;
  readonly end: Micros;
  readonly counts: readonly LabelerCount[];
}

/** Reads the rows of all labelers up to the frontier of a server again and again: it may never claim fewer than there are. */
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
          problems.push(`a server claimed ${total(counts)} rows before ${end}, and there are ${total(now)}`);
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
