/**
 * Replaces the active label instrument by its standby 100 times each by hand-overs and kills, and 20 times by
 * suspensions, at 500 labels a second. `npm run test:hand-overs -- [N]`: N of each, the suspensions a fifth of that.
 */
import { changeWriters, type WriterChange } from '../harness/kills/writer-changes.ts';

const times = Number(process.argv[2] ?? 100);
const plan: readonly (readonly [WriterChange, number])[] = [
  ['hand_over', times],
  ['kill', times],
  ['suspend', Math.ceil(times / 5)],
];
for (const [how, count] of plan) {
  const report = await changeWriters({ changes: Array.from({ length: count }, () => how), seed: 7, rate: 84 });
  const { stored, emitted, slowestMs, saved, problems } = report;
  const result = problems.length === 0 ? 'none lost, none twice, no gap' : 'WRONG';
  console.log(
    `${how}: ${count} changes, ${stored} of ${emitted} labels, ${saved} of them from standbys, at most ${Math.round(slowestMs)} ms: ${result}`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
