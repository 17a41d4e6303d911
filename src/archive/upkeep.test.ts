import { hash } from 'node:crypto';
import { beforeAll, describe, expect, it } from 'vitest';
import { type Content, copyOf } from '../../harness/archive/forge.ts';
import { type MemoryArchive, memoryArchive } from '../../harness/archive/memory-files.ts';
import { publishedFact, simulateArchive, simulatedStart } from '../../harness/archive/simulated-archive.ts';
import { findIdentityIn } from '../main/archived-identity.ts';
import { hourMs } from './days/calendar.ts';
import { formatIssues, issuesFile, type KnownIssue, parseIssues } from './days/known-issues.ts';
import { formatDay, parseDay, sha256Of } from './days/records.ts';
import { rebuildDay, withdrawFile } from './upkeep.ts';

const [first, second, open] = ['2026-11-20', '2026-11-21', '2026-11-25'];
const labels = 'labels-overview.jsonl';
const now = simulatedStart + 24 * 6 * hourMs;

let threeDays: MemoryArchive = memoryArchive();

beforeAll(async () => {
  const archive = simulateArchive({ memory: threeDays });
  await archive.run(24 * 5 + 1);
  threeDays = archive.copy();
});

/** Returns an archive with three closed days. */
async function archiveInTest() {
  const archive = simulateArchive({ memory: threeDays.copy() });
  await archive.tickAt(now - 24 * hourMs);
  const withdraw = (day: string, name: string, reason = 'a test') =>
    withdrawFile({ files: archive.files, day, name, reason, now });
  const text = (path: string) => archive.content.get(path)?.toString('utf8') ?? '';
  return { ...archive, withdraw, text };
}

describe('a withdrawn file', () => {
  it.each([
    ['an empty reason', ' '],
    ['a reason of two lines', 'a\nb'],
    ['a reason that is too long', 'a'.repeat(301)],
  ])('is not accepted with %s, and the archive stays unchanged', async (_, reason) => {
    const { withdraw, content } = await archiveInTest();
    const before = new Map(content);
    expect(() => withdraw(first, labels, reason)).toThrow('--reason requires one line of at most 300 characters');
    expect(new Map(content)).toEqual(before);
  });

  it('of a closed day leaves a tombstone with its digest, and the archive verifies', async () => {
    const { withdraw, content, verify, text } = await archiveInTest();
    const record = parseDay(content.get(`days/${first}/day.json`) ?? Buffer.alloc(0));
    const listed = record?.files.find(({ name }) => name === labels);
    expect(withdraw(first, labels)).toBe('removed');
    expect(content.has(`days/${first}/${labels}`)).toBe(false);
    const tombstone = { ...listed, reason: 'a test', withdrawn_at: new Date(now).toISOString() };
    expect(JSON.parse(text(`days/${first}/withdrawn.json`))).toMatchObject({ day: first, files: [tombstone] });
    const report = await verify();
    expect(report).toMatchObject({ findings: [], closedDays: 3, withdrawn: [`days/${first}/${labels}`] });
    expect(withdraw(first, labels)).toBe('removed');
    expect(withdraw(first, 'gaps.json')).toBe('removed');
    expect(await verify()).toMatchObject({ findings: [], withdrawn: [expect.anything(), expect.anything()] });
  });

  it.each([labels, 'gaps.json', 'weather-metrics.jsonl'])(
    'is reported if it still exists or returns from a copy (%s)',
    async (name) => {
      const { withdraw, content, verify } = await archiveInTest();
      const path = `days/${first}/${name}`;
      const bytes = content.get(path);
      if (bytes === undefined) throw new Error(`${path} does not exist`);
      withdraw(first, name);
      expect((await verify()).findings).toEqual([]);
      content.set(path, bytes);
      const message = 'the file was withdrawn, but it still exists; remove it';
      expect((await verify()).findings).toEqual([{ kind: 'altered', path, message }]);
      withdraw(first, name);
      expect((await verify()).findings).toEqual([]);
    },
  );

  it('is reported if its tombstone is damaged or states a wrong digest', async () => {
    const { withdraw, content, verify, text } = await archiveInTest();
    withdraw(first, labels);
    const path = `days/${first}/withdrawn.json`;
    const digest = /"sha256":"(\w+)"/.exec(text(path))?.[1] ?? '';
    const alter = async (change: (text: string) => string) => {
      const altered: Content = copyOf(content);
      altered.set(path, Buffer.from(change(text(path))));
      return (await verify({ reader: memoryArchive(altered).reader })).findings.map(({ kind }) => kind);
    };
    expect(await alter((old) => old.replace(digest, '0'.repeat(64)))).toEqual(['altered']);
    expect(await alter((old) => old.replace('a test', 'a\\ntest'))).toContain('malformed');
  });

  it('of an open day loses its bodies, but the day continues to be archived and is closed later', async () => {
    const { withdraw, run, verify, text } = await archiveInTest();
    expect(withdraw(open, labels)).toBe('withheld');
    await run(24 * 3, 24 * 5 + 1);
    const lines = text(`days/${open}/${labels}`).trimEnd().split('\n');
    expect(lines).toHaveLength(24);
    expect(lines.map((line) => (JSON.parse(line) as { failure?: string }).failure).filter(Boolean)).toEqual([
      'withheld',
    ]);
    expect(text(`days/${open}/gaps.json`)).toContain('"reason":"withheld"');
    expect((await verify()).findings).toEqual([]);
  });

  it('of an open day leaves a tombstone, so that the manifest of an earlier closed day is final', async () => {
    const reported = simulatedStart + 50 * hourMs;
    const gaps = [{ start: '2026-11-20T23:30:00Z', end: '2026-11-20T23:45:00Z', reason: 'unreachable' }];
    const archive = simulateArchive({
      respond: (path, at) => publishedFact(path, { now: at, gaps: at < reported ? [] : gaps }),
    });
    await archive.run(74);
    const text = (path: string) => archive.content.get(path)?.toString('utf8') ?? '';
    const path = `days/2026-11-22/${labels}`;
    const bytes = archive.content.get(path) ?? Buffer.alloc(0);
    const withdrawal = { files: archive.files, day: '2026-11-22', name: labels, reason: 'a test' };
    const withdraw = (hour: number) => withdrawFile({ ...withdrawal, now: simulatedStart + hour * hourMs });
    expect(text(`days/${first}/gaps.json`)).toContain('2026-11-20T23:30:00.000Z');
    expect([withdraw(74), withdraw(75)]).toEqual(['withheld', 'withheld']);
    expect(JSON.parse(text('days/2026-11-22/withdrawn.json'))).toMatchObject({
      files: [{ bytes: bytes.length, sha256: hash('sha256', bytes, 'hex'), withdrawn_at: '2026-11-23T02:00:00.000Z' }],
    });
    await archive.run(22, 75);
    expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 2, withdrawn: [] });
    const results = new Map(rebuildDay(archive.files, first, findIdentityIn).map(({ name, result }) => [name, result]));
    expect([results.get('gaps.json'), results.get('day.json')]).toEqual(['final', 'identical']);
    archive.content.set(`days/${second}/gaps.json`, Buffer.from('{}'));
    expect((await archive.verify()).findings).not.toEqual([]);
    archive.content.delete(`days/${first}/gaps.json`);
    expect(rebuildDay(archive.files, first, findIdentityIn)).toContainEqual({ name: 'gaps.json', result: 'different' });
  });

  it.each([
    ['labels-hours.json', 'labels-labelers', 'did:plc:ewvi7nxzyoun6zhxrhs64oiz'],
    ['weather-hours.json', 'weather-totals', 'jetstream.example'],
  ])(
    'with the hours of an open day (%s) is removed together with its data in the computed tables, and later tables do not contain the data',
    async (name, table, text) => {
      const archive = await archiveInTest();
      const { withdraw, content, run, verify } = archive;
      await run(3, 24 * 5 + 1);
      const found = () =>
        [...content].filter(([path, bytes]) => path.startsWith(`days/${open}/`) && bytes.includes(text));
      expect(found().map(([path]) => path)).toContain(`days/${open}/${name}`);
      expect(withdraw(open, name)).toBe('withheld');
      expect(found()).toEqual([]);
      expect(withdraw(open, name)).toBe('withheld');
      archive.restart();
      await run(24 * 3, 24 * 5 + 4);
      expect(found()).toEqual([]);
      expect(archive.text(`days/${open}/${table}.csv`)).not.toBe('');
      expect(archive.text(`days/${open}/gaps.json`)).toContain('"reason":"withheld"');
      expect(await verify()).toMatchObject({ findings: [], closedDays: 6, withdrawn: [] });
      expect(new Set(rebuildDay(archive.files, open, findIdentityIn).map(({ result }) => result))).toEqual(
        new Set(['identical']),
      );
      expect(withdraw(open, name)).toBe('removed');
      expect(await verify()).toMatchObject({ findings: [], withdrawn: [`days/${open}/${name}`] });
    },
  );

  it('with the hours of an open day can be withdrawn again, and the archiver then writes the computed files again', async () => {
    const { withdraw, content, run } = await archiveInTest();
    await run(24, 24 * 5 + 1);
    withdraw(open, 'labels-hours.json');
    await run(1, 24 * 6 + 1);
    const digests = () =>
      new Map(
        [...content].filter(([path]) => path.startsWith(`days/${open}/`)).map(([path, own]) => [path, sha256Of(own)]),
      );
    const before = digests();
    withdraw(open, 'labels-hours.json');
    expect(content.has(`days/${open}/gaps.json`)).toBe(false);
    await run(1, 24 * 6 + 2);
    expect(digests()).toEqual(before);
    expect(content.has(`days/${open}/gaps.json`)).toBe(true);
  });

  it.each([
    ['with hours files', undefined],
    ['without hours files', () => null],
  ])('keeps its day open while the tombstones are damaged, in an archive %s', async (_kind, hours) => {
    const archive = simulateArchive(hours && { hours });
    await archive.run(10);
    const path = `days/${first}/withdrawn.json`;
    withdrawFile({
      files: archive.files,
      day: first,
      name: labels,
      reason: 'a test',
      now: simulatedStart + 10 * hourMs,
    });
    const intact = archive.content.get(path) ?? Buffer.alloc(0);
    archive.content.set(path, Buffer.from('{'));
    await archive.run(63, 10);
    archive.messages.length = 0;
    await archive.run(1, 73);
    expect(await archive.verify()).toMatchObject({ findings: [{ kind: 'malformed', path }], closedDays: 0 });
    expect(archive.messages).toEqual([
      {
        message: 'an archive file is damaged and was ignored; restore it from a copy of the archive',
        fields: { path },
      },
    ]);
    archive.content.set(path, intact);
    await archive.run(1, 74);
    expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
    expect(archive.messages).toHaveLength(1);
  });

  it('must not be the file of known issues of an open day, because that file is copied from the list of the archive', async () => {
    const { withdraw, content } = await archiveInTest();
    const day = parseDay(content.get(`days/${open}/day.json`) ?? Buffer.alloc(0));
    if (!day) throw new Error('the day has no record');
    const issues = { name: 'known-issues.json', bytes: 1, sha256: '0'.repeat(64) };
    content.set(`days/${open}/day.json`, formatDay({ ...day, files: [...day.files, issues] }));
    expect(() => withdraw(open, 'known-issues.json')).toThrow(
      'remove the issue from known-issues.json in the archive directory',
    );
  });

  it('must be listed in the record of its day and must not be a computed file of an open day', async () => {
    const { withdraw } = await archiveInTest();
    expect(() => withdraw(first, '../index.json')).toThrow('has no file "../index.json"');
    expect(() => withdraw('2026-12-24', labels)).toThrow('no intact record of 2026-12-24');
    expect(() => withdraw(open, 'gaps.json')).toThrow('is recomputed from the other files');
  });

  it('can be withdrawn again after the process was killed at any write', async () => {
    const { copy } = await archiveInTest();
    for (const effect of ['nothing', 'complete'] as const) {
      for (const operation of [1, 2]) {
        const memory = copy();
        const error = new Error('killed');
        memory.failAt(operation, { effect, error });
        const withdrawal = { files: memory.files, day: first, name: labels, reason: 'a test', now };
        expect(() => withdrawFile(withdrawal)).toThrow('killed');
        withdrawFile(withdrawal);
        expect(memory.content.has(`days/${first}/${labels}`)).toBe(false);
        expect((await simulateArchive({ memory }).verify({ now })).findings).toEqual([]);
      }
    }
  });
});

describe('a rebuild', () => {
  it('restores missing and damaged files of a closed day byte for byte', async () => {
    const { files, content } = await archiveInTest();
    const before = copyOf(content);
    expect(rebuildDay(files, first, findIdentityIn).map(({ result }) => result)).not.toContain('different');
    content.delete(`days/${first}/gaps.json`);
    content.set(`days/${second}/gaps.json`, Buffer.from('{}\n'));
    expect(rebuildDay(files, first, findIdentityIn)).toContainEqual({ name: 'gaps.json', result: 'restored' });
    expect(rebuildDay(files, second, findIdentityIn)).toContainEqual({ name: 'gaps.json', result: 'restored' });
    expect(content).toEqual(before);
  });

  it('writes only files whose bytes were published', async () => {
    const { files, content } = await archiveInTest();
    const path = `days/${second}/${labels}`;
    const line = (content.get(path)?.toString('utf8') ?? '').split('\n')[0] ?? '';
    const hour = (at: string) => line.replaceAll('T00:00:', `T${at}:00:`);
    content.set(path, Buffer.from(`${hour('00')}\n`));
    content.delete(`days/${second}/gaps.json`);
    expect(() => rebuildDay(files, second, findIdentityIn)).toThrow(`days/${second}/${labels} is missing or damaged`);
    expect(content.has(`days/${second}/gaps.json`)).toBe(false);
  });

  it('reports a file whose computed bytes differ from the published bytes, and does not write the file', async () => {
    const { files, content, text } = await archiveInTest();
    const path = `days/${first}/day.json`;
    const digestOf = (bytes: string | Buffer): string => hash('sha256', bytes, 'hex');
    const gaps = content.get(`days/${first}/gaps.json`) ?? Buffer.alloc(0);
    const record = text(path);
    const forged = record.replace(digestOf(gaps), '0'.repeat(64));
    content.set(path, Buffer.from(forged));
    content.set('index.json', Buffer.from(text('index.json').replace(digestOf(record), digestOf(forged))));
    content.delete(`days/${first}/gaps.json`);
    expect(rebuildDay(files, first, findIdentityIn)).toContainEqual({ name: 'gaps.json', result: 'different' });
    expect(content.has(`days/${first}/gaps.json`)).toBe(false);
  });

  it('is refused while the tombstones of the day are damaged, and then restores no withdrawn file', async () => {
    const { files, content, withdraw, text } = await archiveInTest();
    withdraw(first, 'gaps.json');
    const path = `days/${first}/withdrawn.json`;
    content.set(path, Buffer.from(text(path).slice(0, -1)));
    expect(() => rebuildDay(files, first, findIdentityIn)).toThrow(`${path} is damaged; restore it first`);
    expect(content.has(`days/${first}/gaps.json`)).toBe(false);
  });

  it('is refused for an open day, and for a damaged or withdrawn input', async () => {
    const { files, content, withdraw } = await archiveInTest();
    expect(() => rebuildDay(files, open, findIdentityIn)).toThrow('is not a closed day of this archive');
    withdraw(first, labels);
    expect(() => rebuildDay(files, first, findIdentityIn)).toThrow('labels-overview.jsonl was withdrawn');
    content.delete(`days/${second}/${labels}`);
    expect(() => rebuildDay(files, second, findIdentityIn)).toThrow(`days/${second}/${labels} is missing or damaged`);
  });
});

describe('the list of known issues', () => {
  const issue: KnownIssue = {
    id: 'double-count',
    reported_at: '2026-11-21T09:00:00Z',
    source: 'labels',
    start: '2026-11-20T10:00:00Z',
    end: '2026-11-22T00:00:00Z',
    summary: 'Removals were counted twice.',
  };

  it('is created empty, and each listed issue appears in the manifest of every day that the issue concerns', async () => {
    const archive = simulateArchive();
    await archive.run(1);
    expect(archive.content.get(issuesFile)).toEqual(formatIssues([]));
    archive.content.set(
      issuesFile,
      Buffer.from(JSON.stringify({ schema: 'almanac.archive.known-issues/v1', issues: [issue] })),
    );
    await archive.run(74, 1);
    const manifest = (day: string) =>
      JSON.parse(archive.content.get(`days/${day}/gaps.json`)?.toString('utf8') ?? '') as object;
    expect(manifest(first)).toMatchObject({ known_issues: [issue] });
    expect(manifest(second)).toMatchObject({ known_issues: [issue] });
    expect(manifest('2026-11-22')).toMatchObject({ known_issues: [] });
    expect(await archive.verify()).toMatchObject({ findings: [], closedDays: 1 });
    expect(new Set(rebuildDay(archive.files, first, findIdentityIn).map(({ result }) => result))).toEqual(
      new Set(['identical']),
    );
  });

  it('does not change any day while it is invalid or contains an identity, and an error is logged', async () => {
    const scan = (_name: string, value: object) =>
      JSON.stringify(value).includes('Caused by did:plc:') ? 'a DID is at /issues/0/summary' : null;
    const archive = simulateArchive({ findIdentityIn: scan });
    const named = { ...issue, summary: 'Caused by did:plc:ewvi7nxzyoun6zhxrhs64oiz.' };
    archive.content.set(issuesFile, formatIssues([named]));
    await archive.run(1);
    archive.content.set(issuesFile, Buffer.from('{"issues":[]}'));
    await archive.run(1, 1);
    expect(archive.messages).toEqual([
      {
        message: 'an archive file contains an identity and was not written',
        fields: { path: issuesFile, why: 'a DID is at /issues/0/summary' },
      },
      {
        message: 'an archive file is damaged and was ignored; restore it from a copy of the archive',
        fields: { path: issuesFile },
      },
    ]);
    expect([...archive.content].filter(([path, bytes]) => path !== issuesFile && bytes.includes('Caused by'))).toEqual(
      [],
    );
    expect((await archive.verify()).findings).toEqual([]);
  });

  it.each([
    ['an additional field', { severity: 'low' }],
    ['a repeated id', {}],
    ['an id with characters that are not allowed', { id: 'A b' }],
    ['an unknown source', { source: 'drift' }],
    ['an end before its start', { end: '2026-11-20T10:00:00Z' }],
    ['a time without a zone', { reported_at: '2026-11-21T09:00:00' }],
    ['an empty summary', { summary: ' ' }],
    ['a summary of two lines', { summary: 'a\nb' }],
    ['a summary that is too long', { summary: 'a'.repeat(1001) }],
  ])('is invalid if it contains %s', (_fault, change) => {
    expect(parseIssues(formatIssues([issue]))).toEqual([issue]);
    const changed = { ...issue, ...change };
    const issues = Object.keys(change).length === 0 ? [issue, issue] : [changed];
    const list = JSON.stringify({ schema: 'almanac.archive.known-issues/v1', issues });
    expect(parseIssues(Buffer.from(list))).toBeNull();
  });
});
