/**
 * Simulates days of the whole observatory with injected faults, for seeds 1 to N (first argument), more slowly than the
 * tests do.
 */
import { simulateDay } from '../harness/day/day.ts';

const days = Number(process.argv[2] ?? 3);
for (let seed = 1; seed <= days; seed += 1) {
  const report = await simulateDay({ seed, factor: Number(process.argv[3] ?? 360), say: console.log });
  console.log(JSON.stringify(report, null, 1));
  const { counted, exist } = report.labels;
  if (report.wrong.length > 0 || report.minutes.wrong > 0 || counted !== exist) process.exit(1);
}
