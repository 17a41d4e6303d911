import { readdirSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { createSim } from '../../sim/index.ts';
import { dice } from '../../sim/random.ts';
import { openWindowStore } from '../../src/weather/window/window-store.ts';
import { temporaryFolder } from '../process/at-exit.ts';
import { startProgram } from '../process/program.ts';
import { until } from '../process/until.ts';
import {
  everythingKept,
  type Kept,
  leaks,
  minutesOf,
  readArtifact,
  readHours,
  readStore,
} from '../weather/weather-kept.ts';

/** Result of killing a weather instrument repeatedly. */
interface KillReport {
  readonly kept: Kept;
  /** Stored counts per minute. */
  readonly stored: ReturnType<typeof minutesOf>;
  /** Counts of the generated events per minute. */
  readonly happened: ReturnType<typeof minutesOf>;
  /** Number of kills after which the stored positions differed from the positions after the previous kill. */
  readonly moved: number;
  /** Number of kills that happened during a backfill. */
  readonly replaying: number;
  /** Temporary files that remained after a normal stop. */
  readonly leftOver: readonly string[];
  /**
   * Names of the places in which an identity was found after a kill or at the end: store, write-ahead log, artifact
   * or stderr.
   */
  readonly leaks: readonly string[];
  end(): void;
}

/**
 * Parameters of repeated kills of the weather instrument: the number of kills, the seed of their times, and the rate of
 * the host's events per second.
 */
interface KillPlan {
  readonly kills: number;
  readonly seed: number;
  readonly rate?: number;
}

const observing = /^almanac weather observing$/;
const backfillOver = 'the backfill of missed events has ended';

/**
 * Runs the real command against a simulated host, kills it at random times after each start, and lets the last process
 * finish. After each kill, the artifact must be complete.
 */
export async function killRepeatedly({ kills, seed, rate = 1000 }: KillPlan): Promise<KillReport> {
  const sim = createSim({ seed, rate, historyHours: 4, seqCursors: seed % 2 === 0 });
  const { jetstream } = await sim.start();
  const { folder, remove } = temporaryFolder('kills');
  const chance = dice(seed);
  const args = [
    ...['weather', '--jetstream', jetstream, '--data', folder, '--allow-loopback'],
    ...['--publish-seconds', '1', '--backfill-hours', '3', '--backfill-megabytes', '100000'],
  ];
  let log = '';
  let moved = 0;
  let replaying = 0;
  let newest = '';
  let isReplaying = true;
  const found: string[] = [];
  const scan = (): void => void found.push(...leaks(everythingKept({ folder, lines: [log] })));
  try {
    for (let kill = 0; kill < kills; kill += 1) {
      const command = startProgram(args);
      await command.line(observing);
      // A fast machine reads the whole backlog in ten long runs, so runs during the backfill are shorter.
      await wait(chance.below(isReplaying ? 1800 : 2200));
      await command.kill();
      log += command.stderr.join('\n');
      scan();
      readArtifact(folder);
      readHours(folder);
      const { live, backfill } = positions(folder, jetstream);
      isReplaying = backfill !== null;
      if (isReplaying) replaying += 1;
      const state = `${live} ${backfill}`;
      if (state !== newest) moved += 1;
      newest = state;
    }
    const last = startProgram(args);
    await last.line(observing);
    await until(
      'the backfill of missed events has ended',
      () => log.includes(backfillOver) || last.stderr.some((line) => line.includes(backfillOver)),
      600_000,
    );
    await until('the instrument receives live events', () =>
      last.stderr.some((line) => line.includes('"from":"cursor"')),
    );
    await wait(2500);
    const code = await last.stop();
    log += last.stderr.join('\n');
    scan();
    if (code !== 0) throw new Error(`the command exited with ${code}: ${last.stderr.join('\n')}`);
    const kept = readStore(folder, jetstream);
    const happened = sim.truth
      .minutesBetween(kept.fromUs, kept.toUs + 1)
      .filter(({ events }) => events > 0)
      .map(({ startUs, events, metrics }) => ({ startUs, events, metrics }));
    const leftOver = readdirSync(join(folder, 'artifacts')).filter((name) => name.endsWith('.tmp'));
    return { kept, stored: minutesOf(kept), happened, moved, replaying, leftOver, leaks: found, end: remove };
  } finally {
    await sim.stop();
  }
}

/** Returns the stream positions in the store of a killed process. */
function positions(folder: string, endpoint: string): { live: number | null; backfill: number | null } {
  const store = openWindowStore(folder);
  const { live, backfill } = store.series(endpoint);
  store.close();
  return { live: live?.value ?? null, backfill: backfill?.position.value ?? null };
}
