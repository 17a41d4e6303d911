import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type MemoryArchive, memoryArchive } from '../../harness/archive/memory-files.ts';
import { publishedFact, simulateArchive, simulatedStart } from '../../harness/archive/simulated-archive.ts';
import { dayMs, hourMs } from './days/calendar.ts';
import { formatIssues, issuesFile } from './days/known-issues.ts';
import { archivedFacts } from './days/line.ts';
import { pathOf } from './days/records.ts';
import { archiveState } from './state.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-archive-state-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

function writeArchive({ content }: MemoryArchive): void {
  for (const [path, bytes] of content) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), bytes);
  }
}

it('the state of a directory without an archive has no days', () => {
  expect(archiveState(folder, simulatedStart)).toEqual({ days: null, issues: 0 });
  expect(archiveState(join(folder, 'absent'), simulatedStart)).toEqual({ days: null, issues: 0 });
});

it('the state of an archive has its days by state and its last archived hour, of today or yesterday', async () => {
  const hours = 24 * 3 + 1;
  const archive = simulateArchive({ memory: memoryArchive() });
  await archive.run(hours);
  writeArchive(archive);
  const lastHour = Math.floor(simulatedStart / hourMs + hours - 1) * hourMs;
  const state = { days: { closed: 1, open: 3, lastHour }, issues: 0 };
  expect(archiveState(folder, lastHour + hourMs)).toEqual(state);
  expect(archiveState(folder, lastHour + dayMs)).toEqual(state);
  expect(archiveState(folder, lastHour + 3 * dayMs).days).toEqual({ closed: 1, open: 3, lastHour: 0 });
});

it('the last archived hour is the last one with a response, although later hours have a line', async () => {
  const unreachableFrom = simulatedStart + 6 * hourMs;
  const archive = simulateArchive({
    respond: (path, now) =>
      now < unreachableFrom ? publishedFact(path, { now }) : { kind: 'failure', failure: 'unreachable' },
  });
  await archive.run(12);
  writeArchive(archive);
  expect(
    readFileSync(join(folder, pathOf('2026-11-20', 'instruments.jsonl')), 'utf8')
      .trimEnd()
      .split('\n').length,
  ).toBe(11);
  expect(archiveState(folder, simulatedStart + 11 * hourMs).days?.lastHour).toBe(simulatedStart + 5 * hourMs);
});

it('the last archived hour is that of the fact that was archived least recently, and a refusal counts as archived', async () => {
  const archive = simulateArchive({
    respond: (path, now) =>
      path === archivedFacts['weather-metrics'] && now >= simulatedStart + 3 * hourMs
        ? { kind: 'failure', failure: 'too_large' }
        : publishedFact(path, { now, isHeld: true }),
  });
  await archive.run(3);
  writeArchive(archive);
  expect(archiveState(folder, simulatedStart + 3 * hourMs).days?.lastHour).toBe(simulatedStart + 2 * hourMs);
  await archive.run(5, 3);
  writeArchive(archive);
  expect(archiveState(folder, simulatedStart + 8 * hourMs).days?.lastHour).toBe(simulatedStart + 2 * hourMs);
});

it('the state of an archive has the number of its known issues, or null if their file is invalid', () => {
  const issue = { id: 'one', reported_at: '2026-11-20T00:00:00Z', source: 'archive', summary: 'A test.' } as const;
  writeFileSync(join(folder, issuesFile), formatIssues([{ ...issue, start: '2026-11-20T00:00:00Z', end: null }]));
  expect(archiveState(folder, simulatedStart).issues).toBe(1);
  writeFileSync(join(folder, issuesFile), '[');
  expect(archiveState(folder, simulatedStart).issues).toBeNull();
});
