/**
 * `npm run test:kills -- [weather, labels or archive] [N]`: kills a process N times (500 by default). Without a name,
 * kills both instruments and the archiver in turn.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const names = ['weather', 'labels', 'archive'];
const words = process.argv.slice(2);
const asked = names.filter((name) => words.includes(name));
const rest = words.filter((word) => !names.includes(word));
for (const name of asked.length > 0 ? asked : names) {
  console.log(`# ${name}`);
  const script = join(import.meta.dirname, 'kills', `${name}.ts`);
  if (spawnSync(process.execPath, [script, ...rest], { stdio: 'inherit' }).status !== 0) process.exitCode = 1;
}
