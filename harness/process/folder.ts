import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import type { Later } from './once-in-file.ts';

/** Creates a temporary directory that is removed after the test, or when `later` releases it. */
export function folderInTest(later: Later = onTestFinished): string {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-test-'));
  later(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
