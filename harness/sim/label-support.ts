import { manualClock } from '../../sim/clock.ts';
import { createSim, type Sim, type SimAddresses, type SimOptions } from '../../sim/index.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import { queryLabels, type ReadLabel } from './label-consumer.ts';

/** A simulated network whose first two labelers run Ozone and skyware. */
export interface LabelSim {
  readonly sim: Sim;
  readonly addresses: SimAddresses;
  readonly ozone: Labeler;
  readonly skyware: Labeler;
  /** Advances the clock and sends the new data to all consumers. */
  pass(seconds: number): void;
}

/** Start time of every network that `startLabelSim` starts, in milliseconds since 1970. */
export const startMs = Date.UTC(2026, 6, 4);

/** Starts a small network whose clock the test advances. */
export async function startLabelSim(options: SimOptions = {}): Promise<LabelSim> {
  const clock = manualClock(startMs);
  const sim = createSim({
    seed: 7,
    rate: 10,
    historyHours: 1,
    labelers: 2,
    labelRate: 1,
    clock: clock.now,
    ...options,
  });
  const addresses = await sim.start();
  const [ozone, skyware] = sim.labelers.list;
  if (!ozone || !skyware) throw new Error('at least two labelers are required');
  return {
    sim,
    addresses,
    ozone,
    skyware,
    pass(seconds) {
      clock.advance(seconds * 1000);
      sim.pump();
    },
  };
}

/** Reads pages until one is empty or has no cursor. Resolves with all labels. */
export async function readAll(endpoint: string, limit = 250): Promise<ReadLabel[]> {
  const labels: ReadLabel[] = [];
  for (let cursor: string | undefined; ; ) {
    const { body } = await queryLabels(endpoint, { limit: String(limit), ...(cursor ? { cursor } : {}) });
    labels.push(...body.labels);
    if (body.labels.length === 0 || body.cursor === undefined) return labels;
    cursor = body.cursor;
  }
}
