/** Kills the weather instrument 500 times (or as often as the first argument says) and compares what it kept. */
import { isDeepStrictEqual } from 'node:util';
import { killRepeatedly } from '../test/weather-kills.ts';
import { makeReady } from '../test/weather-process.ts';

const kills = Number(process.argv[2] ?? 500);
makeReady();
let left = kills;
for (let seed = 1; left > 0; seed += 1, left -= 50) {
  const report = await killRepeatedly({ kills: Math.min(50, left), seed });
  const events = report.stored.reduce((sum, { events: more }) => sum + more, 0);
  const equal = isDeepStrictEqual(report.stored, report.happened) && report.kept.observed.length === 1;
  console.log(
    `seed ${seed}: ${Math.min(50, left)} kills, ${events} events, ${equal ? 'none lost, none twice' : 'WRONG'}`,
  );
  report.end();
  if (!equal) process.exit(1);
}
