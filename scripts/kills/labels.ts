/**
 * Kills the label instrument 500 times, or the number of times given as the first argument, and compares the stored
 * rows with the emitted labels.
 */
import { killLabels } from '../../harness/kills/label-kills.ts';

const kills = Number(process.argv[2] ?? 500);
for (let seed = 1, left = kills; left > 0; seed += 1, left -= 50) {
  const { stored, problems, early } = await killLabels({ kills: Math.min(50, left), seed });
  console.log(
    `seed ${seed}: ${Math.min(50, left)} kills (${early} during startup), ${stored} labels, ${problems.length === 0 ? 'no label lost or stored twice, no gap hidden' : 'WRONG'}`,
  );
  for (const problem of problems) console.log(`  ${problem}`);
  if (problems.length > 0) process.exitCode = 1;
}
