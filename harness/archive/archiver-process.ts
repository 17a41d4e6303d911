/**
 * Archives simulated hours in a directory as fast as possible: `archiver-process.ts DIR FROM`. Prints the number of
 * each hour whose files are complete, and `full` when a write fails because the disk is full. Runs until it is killed.
 */
import { writeSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { Archiver } from '../../src/archive/archiver.ts';
import { hourMs } from '../../src/archive/days/calendar.ts';
import { openArchiveFiles } from '../../src/archive/files/archive-files.ts';
import { DayLog, keptInFile } from '../../src/archive/log/day-log.ts';
import { silentLog } from '../../src/ops/log.ts';
import { killedHours, killedRespond } from './interrupted.ts';
import { simulatedKey, simulatedStart } from './simulated-archive.ts';

/** Delay before the archiver repeats a failed call, in milliseconds of its own clock. */
const retryMs = 60_000;

const [root = '', from = '0'] = process.argv.slice(2);
const files = openArchiveFiles(join(root, 'archive'));
let now = 0;
const archiver = new Archiver({
  files,
  dayLog: new DayLog({ files, key: simulatedKey, kept: keptInFile(join(root, 'key.checkpoint')) }),
  fetchFact(path) {
    const fetched = killedRespond(path, now);
    return Promise.resolve(fetched.kind === 'response' ? { ...fetched, date: now } : fetched);
  },
  findIdentity: () => null,
  findIdentityIn: () => null,
  readHours: () => killedHours(now),
  clock: () => now,
  random: () => 0,
  log: silentLog,
});
for (let hour = Number(from); ; hour++) {
  now = simulatedStart + hour * hourMs + 5_000;
  let isFull = false;
  while ((await archiver.tick()) === retryMs) {
    if (!isFull) writeSync(1, 'full\n');
    isFull = true;
    await delay(5);
  }
  writeSync(1, `${hour}\n`);
}
