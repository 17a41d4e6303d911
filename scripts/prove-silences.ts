/**
 * Searches for false alarms of the silence rule in simulated traffic with the seeds 1 to N. The first argument is N (20
 * by default), and the second argument is the number of days (30 by default). Exits with 1 if there is an alarm.
 */
import { makeTraffic, watch } from '../harness/weather/weather-traffic.ts';

const seeds = Number(process.argv[2] ?? 20);
const days = Number(process.argv[3] ?? 30);
let alarms = 0;
for (let seed = 1; seed <= seeds; seed += 1) {
  const { found } = watch(makeTraffic(seed, days));
  alarms += found.size;
  for (const { collection, from, to } of found.values()) {
    console.log(
      `seed ${seed}: ${collection} from ${new Date(from / 1000).toISOString()} for ${(to - from) / 60e6} min`,
    );
  }
}
console.log(`${seeds} simulations of ${days} days: ${alarms} false alarms`);
process.exit(alarms === 0 ? 0 : 1);
