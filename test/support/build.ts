import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

/** Tests run the built program: it is built once, before all of them, when a source changed. */
export default function setup(): void {
  const ready = fileURLToPath(new URL('../../scripts/ready.mjs', import.meta.url));
  const done = spawnSync(process.execPath, [ready], { stdio: 'inherit' });
  if (done.status !== 0) throw new Error('the program could not be built');
}
