import { expect, test } from 'vitest';
import { killArchiver } from '../../harness/archive/archive-kills.ts';
import { crashes } from '../../harness/archive/interrupted.ts';

test('an archiver keeps every complete hour, whole files and a consistent log despite kills at any moment and a full disk', async () => {
  const { metFullDisk, hours, closedDays, reasons, ...report } = await killArchiver({ kills: 50, disks: 10, seed: 3 });
  expect(report).toEqual({ findings: [], lostHours: [], differences: [] });
  // The operator held the label facts, and hours of labels were missing for longer than the period of an hours file.
  expect(reasons).toEqual(['incomplete', 'missing', 'source_held']);
  expect(hours).toBeGreaterThan(150);
  expect(closedDays).toBeGreaterThan(2);
  expect([10, null]).toContain(metFullDisk);
});

test.each(['nothing', 'torn', 'complete', 'full'] as const)(
  'interrupting an archiver once, at any of its write operations, does not change the files that it produces (effect: %s)',
  async (effect) => {
    const found = await crashes(effect, 1);
    expect(found.operations).toBeGreaterThan(20);
    expect(found.failures).toEqual([]);
  },
);
