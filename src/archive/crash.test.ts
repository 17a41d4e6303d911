import { expect, it } from 'vitest';
import { crashes } from '../../harness/archive/interrupted.ts';
import { diskFull, memoryArchive } from '../../harness/archive/memory-files.ts';
import { publishedFact, simulateArchive } from '../../harness/archive/simulated-archive.ts';
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

it('an archiver whose second update of the days in an hour fails on a full disk repeats it within the hour', async () => {
  const [day, memory, events] = ['2026-11-20', memoryArchive(), [] as (boolean | 'complete')[]];
  let isFull = false;
  let isUp = true;
  const replace = (path: string, bytes: Uint8Array): void => {
    if (isFull) throw diskFull();
    memory.files.replace(path, bytes);
  };
  const ignored = { line: () => undefined, withheld: () => undefined, damaged: () => undefined, days: () => undefined };
  const archive = simulateArchive({
    memory: { ...memory, files: { ...memory.files, replace } },
    respond: (path, now) =>
      isUp || path !== '/v1/labels/overview'
        ? publishedFact(path, { now })
        : { kind: 'failure', failure: 'unreachable' },
    telemetry: {
      ...ignored,
      complete: () => void events.push('complete'),
      writable: (isWritable) => void (events.at(-1) !== isWritable && events.push(isWritable)),
    },
  });
  const rows = () =>
    String(archive.content.get(`days/${day}/labels-totals.csv`))
      .trimEnd()
      .split('\n').length - 1;
  const at = startOf(day) + 10 * hourMs + 5_000;
  isUp = false;
  await archive.tickAt(at);
  isUp = true;
  isFull = true;
  events.length = 0;
  expect([await archive.tickAt(at + 60_000), rows(), events]).toEqual([60_000, 0, [true, false]]);
  isFull = false;
  await archive.tickAt(at + 120_000);
  expect([rows(), events]).toEqual([10, [true, false, true, 'complete']]);
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
