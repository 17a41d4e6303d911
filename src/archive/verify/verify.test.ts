import { beforeAll, describe, expect, it } from 'vitest';
import {
  first,
  intactArchive,
  verifiedAt as now,
  otherKey,
  second,
  third,
} from '../../../harness/archive/altered/archives.ts';
import {
  type Content,
  changeIndex,
  copyOf,
  flip,
  recordOf,
  rewriteFile,
  rewriteRecord,
} from '../../../harness/archive/forge.ts';
import { memoryArchive, memoryReader } from '../../../harness/archive/memory-files.ts';
import { simulatedKey } from '../../../harness/archive/simulated-archive.ts';
import { OperatorError } from '../../ops/errors.ts';
import { addDays, closeAfterMs, closesAt, hourMs } from '../days/calendar.ts';
import { formatTombstones } from '../days/records.ts';
import { withdrawFile } from '../upkeep.ts';
import { exitCodeOf, findingMeanings, verifyExitCodes } from './finding.ts';
import { type KeptCheckpoint, verifyArchive } from './verify.ts';

/** Tests what a verification reports, except for alterations, which `alterations.test.ts` covers. */

/** Resolves at once: the archive in memory does not change between the passes of a verification. */
const wait = (): Promise<void> => Promise.resolve();
let intact: Content = new Map();
let kept: KeptCheckpoint | null = null;

beforeAll(async () => {
  ({ intact, kept } = await intactArchive());
});

describe('a verification', () => {
  it.each([
    ['commands for a terminal', '\u001b]0;owned\u0007'],
    ['a name that changes the direction of the text', simulatedKey.verifier.text.replace('+', '\u202e+')],
  ])('does not print %s from the index', async (_, text) => {
    const content = copyOf(intact);
    const index = JSON.parse(String(intact.get('index.json'))) as object;
    content.set('index.json', Buffer.from(JSON.stringify({ ...index, key: text })));
    const { findings } = await verifyArchive({
      reader: memoryReader(content),
      key: otherKey.verifier,
      kept: null,
      now,
      wait,
    });
    const found = findings.find(({ path }) => path === 'index.json');
    expect(found).toMatchObject({ kind: 'key', message: `the key is malformed; expected ${otherKey.verifier.text}` });
  });

  it('reports a key that differs from the given key, even if the archive is consistent', async () => {
    const { findings } = await verifyArchive({
      reader: memoryReader(intact),
      key: otherKey.verifier,
      kept: null,
      now,
      wait,
    });
    expect(findings.map(({ kind }) => kind)).toContain('key');
  });

  it('has the exit code for a wrong order if a day was closed too early', async () => {
    const reader = memoryReader(intact);
    const { findings } = await verifyArchive({ reader, key: null, kept: null, now: now - 24 * hourMs, wait });
    expect(exitCodeOf(findings)).toBe(verifyExitCodes.order);
  });

  it('reports a day that was closed less than 48 hours after its end, and the documented meaning of the finding states this limit', async () => {
    const reader = memoryReader(intact);
    const at = (time: number) => verifyArchive({ reader, key: null, kept: null, now: time, wait });
    // Compute the due time of the fourth day, which is the last one.
    const due = closesAt(addDays(third, 1));
    expect((await at(due)).findings).toEqual([]);
    expect((await at(due - 1)).findings).toMatchObject([{ kind: 'order' }]);
    expect(findingMeanings.order).toContain(`less than ${closeAfterMs / hourMs} hours after its end`);
  });

  it('reports a file that cannot be read, and also reports all other findings', async () => {
    const content = copyOf(intact);
    flip(content, `days/${first}/day.json`, 20);
    const broken = new Set([`days/${second}/day.json`, 'log/tile/0/000.p/4']);
    const read = (path: string) =>
      broken.has(path) ? Promise.reject(new OperatorError('status 500')) : memoryReader(content).read(path);
    const { findings, keep } = await verifyArchive({ reader: { read }, key: null, kept, now, wait });
    expect(findings.map(({ kind }) => kind)).toEqual(['unreadable', 'altered', 'unreadable']);
    expect([exitCodeOf(findings), keep]).toEqual([verifyExitCodes.altered, null]);
  });

  it('does not read the files of a day whose record lists a name twice', async () => {
    const content = copyOf(intact);
    const record = recordOf(content, third);
    rewriteRecord(content, { ...record, files: [...record.files, ...record.files] }, simulatedKey);
    const paths: string[] = [];
    const read = (path: string) => {
      paths.push(path);
      return memoryReader(content).read(path);
    };
    const { findings } = await verifyArchive({ reader: { read }, key: null, kept: null, now, wait });
    expect(findings).toMatchObject([{ kind: 'malformed' }]);
    expect(paths.filter((path) => path === `days/${third}/gaps.json`)).toEqual([]);
  });

  it('reports a file of archived lines that the record does not list', async () => {
    const content = copyOf(intact);
    const record = recordOf(content, third);
    const files = record.files.filter(({ name }) => name !== 'instruments.jsonl');
    rewriteRecord(content, { ...record, files }, simulatedKey);
    const { findings } = await verifyArchive({ reader: memoryReader(content), key: null, kept: null, now, wait });
    expect(findings).toMatchObject([{ kind: 'altered', path: `days/${third}/instruments.jsonl` }]);
  });

  it.each(['labels-overview.jsonl', 'weather-hours.json'])(
    'recomputes the tables of earlier days if a file of a later day was withdrawn (%s)',
    async (name) => {
      const { content, files, reader } = memoryArchive(copyOf(intact));
      withdrawFile({ files, day: third, name, reason: 'a test', now });
      expect((await verifyArchive({ reader, key: null, kept: null, now, wait })).findings).toEqual([]);
      for (const day of [first, second]) {
        const path = `days/${day}/weather-totals.csv`;
        const bytes = Buffer.from(String(content.get(path)).replace(/,3600,/, ',3599,'));
        rewriteFile(content, { day, name: 'weather-totals.csv', bytes, key: simulatedKey });
      }
      expect((await verifyArchive({ reader, key: null, kept: null, now, wait })).findings).toEqual(
        [first, second].map((day) => ({
          kind: 'gaps',
          path: `days/${day}/weather-totals.csv`,
          message: 'the file does not match the archived input files',
        })),
      );
    },
  );

  it.each(['weather-totals.csv', 'gaps.json'])(
    'reports a record that lists a false file and calls it withheld (%s)',
    async (name) => {
      const content = copyOf(intact);
      rewriteFile(content, { day: third, name, bytes: Buffer.from('false'), key: simulatedKey });
      rewriteRecord(content, { ...recordOf(content, third), withheld: [name] }, simulatedKey);
      const { findings } = await verifyArchive({ reader: memoryReader(content), key: null, kept: null, now, wait });
      expect(findings).toMatchObject([{ kind: 'malformed', path: `days/${third}/${name}` }]);
    },
  );

  it('reports a record that calls archived lines withheld', async () => {
    const content = copyOf(intact);
    const record = recordOf(content, third);
    const files = record.files.filter(({ name }) => name !== 'instruments.jsonl');
    rewriteRecord(content, { ...record, files, withheld: ['instruments.jsonl'] }, simulatedKey);
    content.delete(`days/${third}/instruments.jsonl`);
    const { findings } = await verifyArchive({ reader: memoryReader(content), key: null, kept: null, now, wait });
    expect(findings).toMatchObject([{ kind: 'malformed', path: `days/${third}/instruments.jsonl` }]);
  });

  it.each(['weather-totals.csv', 'gaps.json'])('reports a withheld file that exists (%s)', async (name) => {
    const content = copyOf(intact);
    const record = recordOf(content, third);
    const files = record.files.filter((file) => file.name !== name);
    rewriteRecord(content, { ...record, files, withheld: [name] }, simulatedKey);
    content.delete(`days/${third}/${name}`);
    const reader = memoryReader(content);
    expect((await verifyArchive({ reader, key: null, kept: null, now, wait })).findings).toEqual([]);
    content.set(`days/${third}/${name}`, Buffer.from('false'));
    const { findings } = await verifyArchive({ reader, key: null, kept: null, now, wait });
    expect(findings).toMatchObject([{ kind: 'altered', path: `days/${third}/${name}` }]);
  });

  it('reports a false gap manifest although a tombstone names a file of the next day, of which nothing was withdrawn', async () => {
    const content = copyOf(intact);
    rewriteFile(content, { day: second, name: 'gaps.json', bytes: Buffer.from('{}\n'), key: simulatedKey });
    const tombstone = { name: 'labels-overview.jsonl', bytes: 1, sha256: '0'.repeat(64), reason: 'none' };
    const withdrawn = [{ ...tombstone, withdrawn_at: new Date(closesAt(second)).toISOString() }];
    content.set(`days/${third}/withdrawn.json`, formatTombstones(third, withdrawn));
    const { findings } = await verifyArchive({ reader: memoryReader(content), key: null, kept: null, now, wait });
    expect(findings).toMatchObject([{ kind: 'gaps', path: `days/${second}/gaps.json` }]);
  });

  it.each(['closed', 'open'] as const)(
    'reports an index that lists a closed day twice (first as %s)',
    async (state) => {
      const content = copyOf(intact);
      changeIndex(content, ({ key, days }) => ({
        key,
        days: [{ day: first, state, sha256: '0'.repeat(64) }, ...days],
      }));
      const { findings } = await verifyArchive({ reader: memoryReader(content), key: null, kept: null, now, wait });
      const message = 'the days are not in ascending order, or one is listed twice';
      expect(findings[0]).toEqual({ kind: 'malformed', path: 'index.json', message });
    },
  );

  it('rejects if reading a file fails with an unexpected error, instead of reporting the file as missing', async () => {
    const reader = { read: () => Promise.reject(new Error('the connection was reset')) };
    await expect(verifyArchive({ reader, key: null, kept: null, now, wait })).rejects.toThrow(
      'the connection was reset',
    );
  });
});
