/**
 * Kills the archiver 500 times, or the number of times given as the first argument, and fills its disk once for every
 * ten kills. Verifies the archive each time.
 */
import { killArchiver } from '../../harness/archive/archive-kills.ts';

const kills = Number(process.argv[2] ?? 500);
let left = kills;
for (let seed = 1; left > 0; seed += 1, left -= 50) {
  const some = Math.min(50, left);
  const report = await killArchiver({ kills: some, disks: Math.ceil(some / 10), seed });
  const { findings, lostHours, differences, hours, closedDays, reasons, metFullDisk } = report;
  const isIntact = findings.length + lostHours.length + differences.length === 0;
  const verdict = isIntact
    ? 'no hour lost, every file complete'
    : `WRONG: ${JSON.stringify({ findings, lostHours, differences })}`;
  console.log(
    `seed ${seed}: ${some} kills, ${metFullDisk ?? 'no'} full disks, ${hours} hours, ${closedDays} closed days, gaps (${reasons.join(', ')}), ${verdict}`,
  );
  if (!isIntact) process.exit(1);
}
