/**
 * `npm run test:kills -- [weather or labels] [N]`: kills an instrument N times (default 500); both instruments by
 * default.
 */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';

const names = ['weather', 'labels'];
const words = process.argv.slice(2);
const asked = names.filter((name) => words.includes(name));
const rest = words.filter((word) => !names.includes(word));
for (const name of asked.length > 0 ? asked : names) {
  console.log(`# ${name}`);
  const script = join(import.meta.dirname, `kill-${name}.ts`);
  if (spawnSync(process.execPath, [script, ...rest], { stdio: 'inherit' }).status !== 0) process.exitCode = 1;
}
