import { wait } from '../../src/labels/clock/clock.ts';
import { createInputMemory, type ReaderPorts, type ReaderTime } from '../../src/labels/ingest/ports.ts';
import { RefusedMemory } from '../../src/labels/ingest/refused-memory.ts';
import { DailyCap } from '../../src/labels/shares/daily-cap.ts';
import { Pace, SourceUsage } from '../../src/labels/shares/pace.ts';
import { noTelemetry, type quirks } from '../../src/labels/shares/telemetry.ts';
import { FilledIn } from '../../src/labels/state/filled-in.ts';
import { noPosition, type ReadPosition } from '../../src/labels/state/reading-events.ts';
import { type PriorityClass, untracked } from '../../src/labels/state/reading-state.ts';
import { Source } from '../../src/labels/state/source.ts';
import { Tracker } from '../../src/labels/state/step.ts';
import { createSlots } from '../../src/network/guard/slots.ts';
import { silentLog } from '../../src/ops/log.ts';
import type { StoredGap } from '../../src/store/port.ts';
import { day, micros } from '../../src/store/time.ts';
import { quickTimings } from './label-station.ts';

type Quirk = (typeof quirks)[number];

type LabelQuery = ReaderPorts['query'];

/** In-memory reader ports for tests, and the data that readers recorded through these ports. */
interface ScriptedPorts {
  readonly ports: ReaderPorts;
  /** Values of the stored labels. */
  readonly stored: Set<string>;
  /** Gaps that a reader recorded, in order. */
  readonly gaps: StoredGap[];
  /** Gaps that a reader withdrew, in order. */
  readonly withdrawn: StoredGap[];
  readonly quirks: Quirk[];
  /** Numbers of items without an outcome, one for each account that was not balanced. */
  readonly unbalanced: number[];
}

/** Ports that a test replaces with its own. */
export type OwnPorts = Partial<
  Pick<ReaderPorts, 'gaps'> &
    Pick<LabelQuery, 'memory' | 'streams'> &
    Pick<ReaderPorts['acceptance'], 'accept' | 'purges'> &
    Pick<ReaderTime, 'random' | 'timings' | 'wait'>
>;

/** Creates ports that record in memory. The epoch began `days` days ago. */
export function scriptedPorts(
  over: Pick<LabelQuery, 'http' | 'openStream'> & OwnPorts,
  { days = 10, priority = 'seeded' }: { readonly days?: number; readonly priority?: PriorityClass } = {},
): ScriptedPorts {
  const clock = () => micros(Math.round((performance.timeOrigin + performance.now()) * 1000));
  const stored = new Set<string>();
  const gaps: StoredGap[] = [];
  const withdrawn: StoredGap[] = [];
  const quirks: Quirk[] = [];
  const unbalanced: number[] = [];
  const shareOf = (source: string) => ({ priority, domain: source, source }) as const;
  const usage = new SourceUsage();
  const waiting = over.wait ?? wait;
  const ports: ReaderPorts = {
    query: {
      ...{ http: over.http, openStream: over.openStream },
      memory: over.memory ?? createInputMemory(),
      streams: over.streams ?? createSlots({ perHost: 32, total: 100, maxWaiting: 0 }),
    },
    acceptance: {
      accept:
        over.accept ??
        (({ observations }) => {
          const before = stored.size;
          for (const { label } of observations) stored.add(label.val);
          return Promise.resolve(stored.size - before);
        }),
      verify: (_, rows) => Promise.resolve(rows.map(() => 'unsigned' as const)),
      refused: new RefusedMemory(),
      repeats: { find: () => Promise.resolve({ changes: [], committed: () => undefined }), load: () => false },
      filledIn: new FilledIn(),
      purges: over.purges ?? { requestedAt: () => null },
      cap: new DailyCap({ clock, shareOf, budgetBytes: () => 1e9, isTight: () => false }),
      usage,
      clockGeneration: () => 0,
    },
    gaps: over.gaps ?? {
      change: ({ kind, gap }) => Promise.resolve(void (kind === 'record' ? gaps : withdrawn).push(gap)),
    },
    time: {
      ...{ clock, epoch: micros(clock() - days * day), random: over.random ?? (() => 0), wait: waiting },
      timings: over.timings ?? { ...quickTimings, pollMs: 50, resumeMs: 200, firstRetryMs: 10, maxRetryMs: 20 },
    },
    pace: new Pace({ shareOf, monotonic: () => performance.now() * 1000, wait: waiting, usage }),
    report: {
      ...{ log: silentLog, suspectDocument: () => undefined },
      telemetry: {
        ...noTelemetry,
        quirk: (quirk) => void quirks.push(quirk),
        unbalanced: (items) => void unbalanced.push(items),
      },
    },
  };
  return { ports, stored, gaps, withdrawn, quirks, unbalanced };
}

/** Creates a source with a stored state, or a source that was never read. */
export function newSource(
  did: string,
  endpoint: string,
  { time }: Pick<ReaderPorts, 'time'>,
  tracked = untracked(time.clock()),
): Source {
  const tracker = new Tracker(did, tracked);
  return new Source({ did, endpoint, peer: { source: did, privileged: false } }, tracker, noPosition);
}

/** Sets the position of a source as if every row up to it had been stored. */
export function resumeAt(source: Source, position: ReadPosition): void {
  source.apply({ kind: 'committed', move: { kind: 'stay' }, position });
}
