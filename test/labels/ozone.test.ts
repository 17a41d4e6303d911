import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

/** Time in which a first run also installs Ozone's packages, in milliseconds. */
const timeoutMs = 900_000;

test(
  'the label instrument reads a real Ozone, by stream and by poll, in all twelve situations',
  async () => {
    const script = join(import.meta.dirname, '..', '..', 'scripts', 'ozone.ts');
    const { stdout } = await promisify(execFile)(process.execPath, [script], { timeout: timeoutMs });
    expect(stdout.split('\n').filter((line) => line.startsWith('ok  '))).toHaveLength(12);
  },
  timeoutMs,
);
