/**
 * Simulates days of the whole observatory with injected faults, for the seeds 1 to N, where N is the first argument (3
 * by default). The second argument is the speed of the simulated clock, 360 by default. Prints a report of each day.
 * Exits with 1 after a day with a wrong result.
 */
import { simulateDay } from '../harness/day/day.ts';

const days = Number(process.argv[2] ?? 3);
for (let seed = 1; seed <= days; seed += 1) {
  const report = await simulateDay({ seed, factor: Number(process.argv[3] ?? 360), say: console.log });
  console.log(JSON.stringify(report, null, 1));
  const { counted, exist } = report.labels;
  if (report.wrong.length > 0 || report.minutes.wrong > 0 || counted !== exist) process.exit(1);
}
