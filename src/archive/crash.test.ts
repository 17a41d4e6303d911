import { expect, it } from 'vitest';
import { crashes } from '../../harness/archive/interrupted.ts';
import { diskFull, memoryArchive } from '../../harness/archive/memory-files.ts';
import { simulateArchive } from '../../harness/archive/simulated-archive.ts';
import { simulatedHours } from '../../harness/archive/simulated-hours.ts';
import { hourMs, startOf } from './days/calendar.ts';
import { formatIssues, issuesFile } from './days/known-issues.ts';

// This test interrupts every ninth write; `test/archive/kill.test.ts` interrupts every operation.
it.each(['nothing', 'torn', 'complete', 'full'] as const)(
  'an archiver that is interrupted at a write operation loses neither files nor lines and keeps its log consistent (effect of the write: %s)',
  async (effect) => {
    const found = await crashes(effect, 9);
    expect(found.operations).toBeGreaterThan(20);
    expect(found.failures).toEqual([]);
  },
);

it('a closed day whose log entry does not fit on the disk stays unchanged, even if an issue and a gap become known later', async () => {
  const [day, memory] = ['2026-11-20', memoryArchive()];
  let isFull = false;
  const replace = (path: string, bytes: Uint8Array): void => {
    if (isFull && path.startsWith('log/')) throw diskFull();
    memory.files.replace(path, bytes);
  };
  const start = startOf(day);
  const late = { start: start + 5 * hourMs, end: start + 6 * hourMs, knownAt: start + 73 * hourMs };
  const archive = simulateArchive({
    memory: { ...memory, files: { ...memory.files, replace } },
    hours: (now) => simulatedHours(now, { weather: [late], labels: [late] }),
  });
  await archive.run(72);
  isFull = true;
  await archive.run(1, 72);
  const files = () => [...archive.content].filter(([path]) => path.startsWith(`days/${day}/`));
  const closed = files();
  isFull = false;
  archive.restart();
  const [from, to] = [`${day}T10:00:00Z`, `${day}T11:00:00Z`];
  const issue = {
    id: 'late',
    reported_at: to,
    source: 'labels',
    start: from,
    end: to,
    summary: 'A late issue.',
  } as const;
  archive.content.set(issuesFile, formatIssues([issue]));
  await archive.run(1, 73);
  expect(files()).toEqual(closed);
  expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
});

it('a day whose only line an archiver was killed while writing is closed and verifies', async () => {
  const archive = simulateArchive();
  const error = new Error('killed');
  archive.failAt(1, { effect: 'torn', error });
  await expect(archive.run(1)).rejects.toBe(error);
  archive.restart();
  await archive.run(50, 24);
  expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
  expect(archive.content.has('days/2026-11-20/instruments.jsonl')).toBe(false);
});

it('a closed day verifies although an archiver was killed before it wrote the first byte of a file', async () => {
  const archive = simulateArchive();
  archive.content.set('days/2026-11-20/instruments.jsonl', Buffer.alloc(0));
  await archive.run(50, 24);
  expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
  // Earlier versions left such a file in closed days.
  archive.content.set('days/2026-11-20/instruments.jsonl', Buffer.alloc(0));
  expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
});
