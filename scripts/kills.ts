/**
 * `npm run test:kills -- [weather, labels or archive] [N]`: kills a process N times (500 by default), and checks what it
 * stored. Without a name, kills both instruments and the archiver in turn.
 */
import { isDeepStrictEqual } from 'node:util';
import { killArchiver } from '../harness/archive/archive-kills.ts';
import { killLabels } from '../harness/kills/label-kills.ts';
import { killRepeatedly } from '../harness/kills/weather-kills.ts';

/** Result of one round of kills, as a line, and what was wrong. */
interface Round {
  readonly said: string;
  readonly problems: readonly string[];
}

const rounds: Readonly<Record<string, (plan: { kills: number; seed: number }) => Promise<Round>>> = {
  /** Compares the stored counts with the generated events. Searches the store for identities after each kill. */
  async weather(plan) {
    const { stored, happened, kept, leaks, end } = await killRepeatedly(plan);
    end();
    const isEqual = isDeepStrictEqual(stored, happened) && kept.observed.length === 1;
    return {
      said: `${stored.reduce((sum, { events }) => sum + events, 0)} events`,
      problems: [
        ...(isEqual ? [] : ['events are lost or counted twice']),
        ...leaks.map((place) => `identity in ${place}`),
      ],
    };
  },
  /** Compares the stored rows with the emitted labels. */
  async labels(plan) {
    const { stored, problems, early } = await killLabels(plan);
    return { said: `${early} kills during startup, ${stored} labels`, problems };
  },
  /** Verifies the archive after each kill, and fills its disk once for every ten kills. */
  async archive(plan) {
    const report = await killArchiver({ ...plan, disks: Math.ceil(plan.kills / 10) });
    const { findings, lostHours, differences, hours, closedDays, reasons, metFullDisk } = report;
    return {
      said: `${metFullDisk ?? 'no'} full disks, ${hours} hours, ${closedDays} closed days, gaps (${reasons.join(', ')})`,
      problems: [...findings.map((one) => JSON.stringify(one)), ...lostHours, ...differences],
    };
  },
};

const words = process.argv.slice(2);
const asked = Object.keys(rounds).filter((name) => words.includes(name));
const kills = Number(words.find((word) => !(word in rounds)) ?? 500);
for (const [name, round] of Object.entries(rounds)) {
  if (asked.length > 0 && !asked.includes(name)) continue;
  console.log(`# ${name}`);
  for (let seed = 1, left = kills; left > 0; seed += 1, left -= 50) {
    const some = Math.min(50, left);
    const { said, problems } = await round({ kills: some, seed });
    const verdict = problems.length === 0 ? 'nothing lost or stored twice' : 'WRONG';
    console.log(`seed ${seed}: ${some} kills, ${said}, ${verdict}`);
    for (const problem of problems) console.log(`  ${problem}`);
    if (problems.length > 0) process.exitCode = 1;
  }
}
