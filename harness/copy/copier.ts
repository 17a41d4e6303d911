/**
 * Copies a store as `almanac store copy` does: `copier.ts FROM TO [--once]`. Exits with the command's exit code, or
 * with 1 after an error.
 */
import { writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { copyStores } from '../../src/main/store/store-copy.ts';

const [from = '', to = '', once] = process.argv.slice(2);
const options = { from, to, state: tmpdir(), once: once === '--once', handOver: false };
process.exitCode = await copyStores(options, (line) => writeSync(1, `${line}\n`)).catch((error: unknown) => {
  writeSync(2, `${String(error)}\n`);
  return 1;
});
