import { DailyCap } from '../../src/labels/daily-cap.ts';
import { createInputMemory } from '../../src/labels/input-memory.ts';
import { Pace } from '../../src/labels/pace.ts';
import { noPosition } from '../../src/labels/position.ts';
import { RefusedMemory } from '../../src/labels/refused-memory.ts';
import type { Standing } from '../../src/labels/shares.ts';
import type { ReaderTools, Source } from '../../src/labels/source.ts';
import { SourceUsage } from '../../src/labels/source-usage.ts';
import { noTelemetry, type Quirk } from '../../src/labels/telemetry.ts';
import { Tracker, untracked } from '../../src/labels/tracker.ts';
import { wait } from '../../src/labels/wait.ts';
import { createSlots } from '../../src/network/slots.ts';
import { silentLog } from '../../src/ops/log.ts';
import type { StoredGap } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';
import { quickRhythm } from './label-station.ts';

/** What readers of labels work with in tests, and what became of it. */
export interface ScriptedTools {
  readonly tools: ReaderTools;
  /** Values of the labels that were stored. */
  readonly stored: Set<string>;
  /** As they were recorded, in their order. */
  readonly gaps: StoredGap[];
  readonly withdrawn: StoredGap[];
  readonly quirks: Quirk[];
}

/** Tools that store in memory, for a store that began so many days ago. */
export function scriptedTools(
  over: Pick<ReaderTools, 'http' | 'openStream'> & Partial<ReaderTools>,
  { days = 10, standing = 'seeded' }: { readonly days?: number; readonly standing?: Standing } = {},
): ScriptedTools {
  const clock = () => micros(Math.round((performance.timeOrigin + performance.now()) * 1000));
  const stored = new Set<string>();
  const gaps: StoredGap[] = [];
  const withdrawn: StoredGap[] = [];
  const quirks: Quirk[] = [];
  const shareOf = (source: string) => ({ standing, domain: source, source }) as const;
  const usage = new SourceUsage();
  const waiting = over.wait ?? wait;
  const tools: ReaderTools = {
    accept: ({ observations }) => {
      const before = stored.size;
      for (const { label } of observations) stored.add(label.val);
      return Promise.resolve(stored.size - before);
    },
    recordGap: (gap) => Promise.resolve(void gaps.push(gap)),
    withdrawGap: (gap) => Promise.resolve(void withdrawn.push(gap)),
    verify: (_, rows) => Promise.resolve(rows.map(() => 'unsigned' as const)),
    doubt: () => undefined,
    heardTime: () => undefined,
    memory: createInputMemory(),
    streams: createSlots({ perHost: 32, total: 100, maxWaiting: 0 }),
    refused: new RefusedMemory(),
    cap: new DailyCap({ clock, shareOf, budgetBytes: () => 1e9, isTight: () => false }),
    pace: new Pace({ shareOf, monotonic: () => performance.now() * 1000, wait: waiting, usage }),
    usage,
    clockEra: () => 0,
    epoch: micros(clock() - days * day),
    clock,
    random: () => 0,
    wait: waiting,
    rhythm: { ...quickRhythm, pollMs: 50, resumeMs: 200, firstRetryMs: 10, longestRetryMs: 20 },
    log: silentLog,
    telemetry: { ...noTelemetry, quirk: (quirk) => void quirks.push(quirk) },
    ...over,
  };
  return { tools, stored, gaps, withdrawn, quirks };
}

/** A source that was never read. */
export function newSource(did: string, endpoint: string, { clock }: Pick<ReaderTools, 'clock'>): Source {
  return {
    did,
    endpoint,
    peer: { source: did, privileged: false },
    tracker: new Tracker(did, untracked(clock())),
    position: noPosition,
    replayFrom: null,
    unplaced: new Set(),
    lastPage: null,
    missedLooks: null,
    seen: new Map(),
    live: null,
    contiguous: false,
  };
}
