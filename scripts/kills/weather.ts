/**
 * Kills the weather instrument 500 times, or the number of times given as the first argument, and compares the stored
 * counts with the generated events. Searches the store for identities after each kill.
 */
import { isDeepStrictEqual } from 'node:util';
import { killRepeatedly } from '../../harness/kills/weather-kills.ts';

const kills = Number(process.argv[2] ?? 500);
let left = kills;
for (let seed = 1; left > 0; seed += 1, left -= 50) {
  const report = await killRepeatedly({ kills: Math.min(50, left), seed });
  const events = report.stored.reduce((sum, { events: more }) => sum + more, 0);
  const equal = isDeepStrictEqual(report.stored, report.happened) && report.kept.observed.length === 1;
  const verdict = equal ? 'no event lost or counted twice' : 'WRONG';
  const scanned = report.leaks.length === 0 ? 'no identity stored' : `IDENTITIES in ${report.leaks.join()}`;
  console.log(`seed ${seed}: ${Math.min(50, left)} kills, ${events} events, ${verdict}, ${scanned}`);
  report.end();
  if (!equal || report.leaks.length > 0) process.exit(1);
}
