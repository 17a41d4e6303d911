import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { memoryArchive } from '../../harness/archive/memory-files.ts';
import { simulateArchive, simulatedStart } from '../../harness/archive/simulated-archive.ts';
import { dayMs, hourMs } from './days/calendar.ts';
import { formatIssues, issuesFile } from './days/known-issues.ts';
import { archiveState } from './state.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-archive-state-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

it('the state of a directory without an archive has no days', () => {
  expect(archiveState(folder, simulatedStart)).toEqual({ days: null, issues: 0 });
  expect(archiveState(join(folder, 'absent'), simulatedStart)).toEqual({ days: null, issues: 0 });
});

it('the state of an archive has its days by state and its last archived hour, of today or yesterday', async () => {
  const hours = 24 * 3 + 1;
  const archive = simulateArchive({ memory: memoryArchive() });
  await archive.run(hours);
  for (const [path, bytes] of archive.content) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
  const lastHour = Math.floor(simulatedStart / hourMs + hours - 1) * hourMs;
  const state = { days: { closed: 1, open: 3, lastHour }, issues: 0 };
  expect(archiveState(folder, lastHour + hourMs)).toEqual(state);
  expect(archiveState(folder, lastHour + dayMs)).toEqual(state);
  expect(archiveState(folder, lastHour + 3 * dayMs).days).toEqual({ closed: 1, open: 3, lastHour: 0 });
});

it('the state of an archive has the number of its known issues, or null if their file is invalid', () => {
  const issue = { id: 'one', reported_at: '2026-11-20T00:00:00Z', source: 'archive', summary: 'A test.' } as const;
  writeFileSync(join(folder, issuesFile), formatIssues([{ ...issue, start: '2026-11-20T00:00:00Z', end: null }]));
  expect(archiveState(folder, simulatedStart).issues).toBe(1);
  writeFileSync(join(folder, issuesFile), '[');
  expect(archiveState(folder, simulatedStart).issues).toBeNull();
});
