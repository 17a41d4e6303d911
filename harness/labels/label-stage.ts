import { afterEach } from 'vitest';
import { createSim, type Sim } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import type { LabelerProfile } from '../../sim/labelers/profile.ts';
import type { Micros } from '../../src/contract/timestamp.ts';
import { day, micros, minute } from '../../src/store/time.ts';
import { type LabelStation, removeStation } from './label-station.ts';

/** A simulated network and the instrument that observes it. Both are stopped after each test. */
interface LabelStage {
  sim: Sim | null;
  station: LabelStation | null;
  /** Total time that the stage's clocks have skipped, in microseconds. */
  passed: number;
  readonly wall: () => Micros;
  readonly monotonic: () => number;
  /** Starts a network with one labeler that emits no labels by itself. It follows the clock of the stage. */
  oneLabeler(shape?: Partial<LabelerProfile>): Promise<{ sim: Sim; labeler: Labeler; plc: string }>;
}

/**
 * Returns the time in microseconds that the clocks must skip to keep the test away from midnight; 0 if midnight is not
 * near.
 */
export function awayFromMidnight(): number {
  const left = day - ((Date.now() * 1000) % day);
  return left < 10 * minute ? left : 0;
}

/** Returns true if all labelers have served every row that can be read. */
export function allGiven({ labelers }: Sim): boolean {
  return labelers.list.every(({ database, edge, served }) => [...database.read(1, edge)].every((n) => served.has(n)));
}

/** Returns true if a labeler has replaced a row, so that the row can no longer be read. */
export function isReplaced({ profile, log, edge }: Labeler, n: number): boolean {
  return profile.software === 'ozone' && log.replaced(n, edge);
}

/** Creates a stage that is reset after each test of the file. */
export function labelStage(): LabelStage {
  const stage: LabelStage = {
    sim: null,
    station: null,
    passed: 0,
    wall: () => micros(Date.now() * 1000 + stage.passed),
    monotonic: () => performance.now() * 1000 + stage.passed,
    async oneLabeler(shape = {}) {
      const sim = createSim({
        ...{ rate: 1, historyHours: 0, labelers: 1, labelRate: 0 },
        clock: () => Date.now() + stage.passed / 1000,
        shapeLabeler: () => shape,
      });
      stage.sim = sim;
      const { plc } = await sim.start();
      const [labeler] = sim.labelers.list;
      if (!labeler || plc === null) throw new Error('the simulation has no labeler');
      return { sim, labeler, plc };
    },
  };
  afterEach(async () => {
    const { sim, station } = stage;
    stage.sim = null;
    stage.station = null;
    stage.passed = 0;
    await station?.stop();
    if (station) removeStation(station);
    await sim?.stop();
  });
  return stage;
}
