import { beforeAll, describe, expect, it } from 'vitest';
import {
  type Content,
  closedDays,
  copyOf,
  rewriteFile,
  rewriteRecord,
  signDays,
} from '../../../harness/archive/forge.ts';
import { memoryReader } from '../../../harness/archive/memory-files.ts';
import { simulateArchive, simulatedKey, simulatedStart } from '../../../harness/archive/simulated-archive.ts';
import { OperatorError } from '../../ops/errors.ts';
import { hourMs } from '../days/calendar.ts';
import { parseDay } from '../days/day.ts';
import { formatIndex, parseIndex } from '../days/index-file.ts';
import { signerKey } from '../log/keys.ts';
import { exitCodeOf, type FindingKind, verifyExitCodes } from './finding.ts';
import { type KeptCheckpoint, verifyArchive } from './verify.ts';

/** An archive with four closed and three open days, and what a verifier kept when it had two. */
let intact: Content = new Map();
let older: Content = new Map();
let kept: KeptCheckpoint | null = null;
const now = simulatedStart + (24 * 6 + 1) * hourMs;
const otherKey = signerKey('test.example/archive', Buffer.alloc(32, 9));
const [first, second, third, open] = ['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-26'];
const labels = `days/${first}/labels-overview.jsonl`;

beforeAll(async () => {
  const archive = simulateArchive();
  await archive.run(24 * 4 + 1);
  older = copyOf(archive.content);
  kept = (await archive.verify()).keep;
  await archive.run(24 * 2, 24 * 4 + 1);
  intact = copyOf(archive.content);
});

function bytesOf(content: Content, path: string): Buffer {
  const bytes = content.get(path);
  if (!bytes) throw new Error(`the archive has no ${path}`);
  return bytes;
}

function linesOf(content: Content, path: string): string[] {
  return bytesOf(content, path).toString('utf8').trimEnd().split('\n');
}

function setLines(content: Content, path: string, lines: readonly string[]): void {
  content.set(path, Buffer.from(lines.map((line) => `${line}\n`).join('')));
}

function flip(content: Content, path: string, at: number): void {
  const bytes = bytesOf(content, path);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
}

function truncate(content: Content, path: string): void {
  content.set(path, bytesOf(content, path).subarray(0, -1));
}

function swap(content: Content, a: string, b: string): void {
  const [one, two] = [bytesOf(content, a), bytesOf(content, b)];
  content.set(a, two).set(b, one);
}

function recordOf(content: Content, day: string) {
  const record = parseDay(bytesOf(content, `days/${day}/day.json`));
  if (!record) throw new Error(`the archive has no record of ${day}`);
  return record;
}

function changeIndex(
  content: Content,
  change: (index: NonNullable<ReturnType<typeof parseIndex>>) => Parameters<typeof formatIndex>[0],
): void {
  const index = parseIndex(bytesOf(content, 'index.json'));
  if (index) content.set('index.json', formatIndex(change(index)));
}

/** Alterations that a single file shows: they are detected at first contact, too. */
const damages: readonly [string, FindingKind, (content: Content) => void][] = [
  ['a byte of an archived body', 'malformed', (c) => flip(c, labels, 400)],
  ['a removed row', 'gaps', (c) => setLines(c, labels, linesOf(c, labels).slice(1))],
  ['a repeated row', 'malformed', (c) => setLines(c, labels, [...linesOf(c, labels), ...linesOf(c, labels).slice(-1)])],
  ['swapped rows', 'malformed', (c) => setLines(c, labels, linesOf(c, labels).reverse())],
  ['a truncated file of rows', 'malformed', (c) => truncate(c, labels)],
  ['an emptied file of rows', 'gaps', (c) => void c.set(labels, Buffer.alloc(0))],
  ['a removed file of rows', 'gaps', (c) => void c.delete(labels)],
  ['an added space in a gap manifest', 'gaps', (c) => void c.set(`days/${first}/gaps.json`, Buffer.from('{} \n'))],
  ['a removed gap manifest', 'missing', (c) => void c.delete(`days/${second}/gaps.json`)],
  ['a byte of the record of a day', 'altered', (c) => flip(c, `days/${first}/day.json`, 20)],
  ['a removed record of a day', 'missing', (c) => void c.delete(`days/${second}/day.json`)],
  ['swapped records of days', 'altered', (c) => swap(c, `days/${first}/day.json`, `days/${second}/day.json`)],
  ['swapped rows of days', 'malformed', (c) => swap(c, labels, `days/${second}/labels-overview.jsonl`)],
  ['a truncated tile', 'log', (c) => truncate(c, 'log/tile/0/000.p/4')],
  ['a byte of a tile', 'log', (c) => flip(c, 'log/tile/0/000.p/4', 3)],
  ['a removed tile', 'missing', (c) => void c.delete('log/tile/0/000.p/4')],
  ['a truncated entry bundle', 'log', (c) => truncate(c, 'log/tile/entries/000.p/4')],
  ['a byte of an entry', 'log', (c) => flip(c, 'log/tile/entries/000.p/4', 40)],
  ['a removed entry bundle', 'missing', (c) => void c.delete('log/tile/entries/000.p/4')],
  ['a removed checkpoint', 'missing', (c) => void c.delete('log/checkpoint')],
  ['a checkpoint that is not a note', 'signature', (c) => void c.set('log/checkpoint', Buffer.from('4 days\n'))],
  ['a byte of the signature', 'signature', (c) => flip(c, 'log/checkpoint', bytesOf(c, 'log/checkpoint').length - 30)],
  ['another size in the checkpoint', 'signature', (c) => flip(c, 'log/checkpoint', 'test.example/archive\n'.length)],
  ['the checkpoint of an older log', 'log', (c) => void c.set('log/checkpoint', bytesOf(older, 'log/checkpoint'))],
  ['a checkpoint of another key', 'signature', (c) => signWith(c, (copy) => bytesOf(copy, 'log/checkpoint'))],
  ['a removed index', 'missing', (c) => void c.delete('index.json')],
  ['an index that is not JSON', 'malformed', (c) => void c.set('index.json', Buffer.from('{'))],
  ['a key of the index that is not a key', 'malformed', (c) => changeIndex(c, (i) => ({ ...i, key: 'a+b+c' }))],
  ['another key in the index', 'signature', (c) => changeIndex(c, (i) => ({ ...i, key: otherKey.verifier.text }))],
  ['a closed day that the index omits', 'missing', (c) => changeIndex(c, (i) => ({ ...i, days: i.days.slice(1) }))],
  ['a closed day that the log lacks', 'log', (c) => changeIndex(c, (i) => ({ ...i, days: [...i.days, unlogged] }))],
  ['another digest in the index', 'altered', (c) => changeIndex(c, (i) => ({ ...i, days: i.days.map(otherDigest) }))],
  ['a changed row of an open day', 'altered', (c) => flip(c, `days/${open}/instruments.jsonl`, 30)],
  ['a removed record of an open day', 'missing', (c) => void c.delete(`days/${open}/day.json`)],
];

const unlogged = { day: '2026-11-19', state: 'closed', sha256: '0'.repeat(64) } as const;

function otherDigest<T extends { readonly day: string }>(listed: T): T {
  return listed.day === second ? { ...listed, sha256: '0'.repeat(64) } : listed;
}

function signWith(content: Content, note: (copy: Content) => Buffer): void {
  const copy = copyOf(content);
  signDays(copy, closedDays(copy), otherKey);
  content.set('log/checkpoint', note(copy));
}

/** Alterations whose publisher computed every digest and signature again. */
const forgeries: readonly [string, FindingKind | 'intact', FindingKind, (content: Content) => void][] = [
  [
    'a row that was changed afterwards',
    'intact',
    'fork',
    (c) => {
      const lines = linesOf(c, labels);
      const [dropped = ''] = lines.splice(0, 1);
      const bytes = Buffer.from(`${[dropped.replace('"W/\\"a\\""', 'null'), ...lines].join('\n')}\n`);
      rewriteFile(c, { day: first, name: 'labels-overview.jsonl', bytes, key: simulatedKey });
    },
  ],
  [
    'a backdated record of a day',
    'intact',
    'fork',
    (c) => rewriteRecord(c, { ...recordOf(c, first), revision: 1, previous: null }, simulatedKey),
  ],
  ['another key for the whole log', 'intact', 'key', (c) => signDays(c, closedDays(c), otherKey)],
  ['an older state of the archive', 'intact', 'rollback', (c) => signDays(c, closedDays(c).slice(0, 1), simulatedKey)],
  ['a log without its first day', 'intact', 'fork', (c) => signDays(c, closedDays(c).slice(1), simulatedKey)],
  [
    'a log without a day',
    'order',
    'order',
    (c) => {
      const days = closedDays(c);
      signDays(c, days.toSpliced(2, 1), simulatedKey);
    },
  ],
  [
    'swapped days of the log',
    'order',
    'fork',
    (c) => {
      const [a, b, ...rest] = closedDays(c);
      if (a && b) signDays(c, [b, a, ...rest], simulatedKey);
    },
  ],
  [
    'a day that is logged twice',
    'order',
    'order',
    (c) => signDays(c, [...closedDays(c), ...closedDays(c).slice(-1)], simulatedKey),
  ],
  [
    'a gap manifest that omits a gap',
    'gaps',
    'gaps',
    (c) => {
      const bytes = Buffer.from(
        bytesOf(c, `days/${third}/gaps.json`).toString('utf8').replace('"gaps":[', '"gaps":[ '),
      );
      rewriteFile(c, { day: third, name: 'gaps.json', bytes, key: simulatedKey });
    },
  ],
  [
    'a body whose own digest was not computed again',
    'malformed',
    'malformed',
    (c) => {
      const path = `days/${third}/weather-metrics.jsonl`;
      const bytes = Buffer.from(bytesOf(c, path).toString('utf8').replaceAll('86400', '86401'));
      rewriteFile(c, { day: third, name: 'weather-metrics.jsonl', bytes, key: simulatedKey });
    },
  ],
  [
    'a file of an unknown kind',
    'malformed',
    'malformed',
    (c) => rewriteFile(c, { day: third, name: 'other.csv', bytes: Buffer.from('a\n'), key: simulatedKey }),
  ],
];

/** Returns the kind that decides the exit code; `intact` without findings. */
async function verdict(content: Content, isFirstContact: boolean, at = now) {
  const report = await verifyArchive({
    reader: memoryReader(content),
    key: null,
    kept: isFirstContact ? null : kept,
    now: at,
  });
  const code = exitCodeOf(report.findings);
  const [kind] = Object.entries(verifyExitCodes).find(([, value]) => value === code) ?? [];
  return { kind, report };
}

describe('a verification', () => {
  it('finds an archive intact at first contact, with a kept checkpoint, and with its key', async () => {
    expect(kept?.note).toContain('\n2\n');
    const atFirst = await verdict(intact, true);
    expect(atFirst).toMatchObject({ kind: 'intact', report: { closedDays: 4, openDays: 3, isFirstContact: true } });
    const later = await verdict(intact, false);
    expect(later).toMatchObject({ kind: 'intact', report: { isFirstContact: false } });
    expect(later.report.keep?.note).toContain('\n4\n');
    const key = simulatedKey.verifier;
    const withKey = await verifyArchive({ reader: memoryReader(intact), key, kept: null, now });
    expect(withKey).toMatchObject({ findings: [], isFirstContact: false });
  });

  it.each(damages)('reports %s as %s, with and without a kept checkpoint', async (_name, kind, alter) => {
    const content = copyOf(intact);
    alter(content);
    const known = await verdict(content, false);
    const unknown = await verdict(content, true);
    expect([known.report.keep, unknown.report.keep]).toEqual([null, null]);
    expect(unknown.kind).toBe(kind);
    expect(verifyExitCodes[known.kind as FindingKind]).toBeGreaterThanOrEqual(verifyExitCodes[kind]);
  });

  it.each(forgeries)('reports %s as %s at first contact, and as %s with a kept checkpoint', async (...forgery) => {
    const [, atFirst, later, alter] = forgery;
    const content = copyOf(intact);
    alter(content);
    expect((await verdict(content, true)).kind).toBe(atFirst);
    expect((await verdict(content, false)).kind).toBe(later);
  });

  it('reports another key than the given one, although the archive is consistent', async () => {
    const { findings } = await verifyArchive({
      reader: memoryReader(intact),
      key: otherKey.verifier,
      kept: null,
      now,
    });
    expect(findings.map(({ kind }) => kind)).toContain('key');
  });

  it('reports a day that was closed before its time', async () => {
    expect(await verdict(intact, true, now - 24 * hourMs)).toMatchObject({ kind: 'order' });
  });

  it('reports a file that cannot be read in addition to the other findings', async () => {
    const content = copyOf(intact);
    flip(content, `days/${first}/day.json`, 20);
    const broken = new Set([`days/${second}/day.json`, 'log/tile/0/000.p/4']);
    const read = (path: string) =>
      broken.has(path) ? Promise.reject(new OperatorError('status 500')) : memoryReader(content).read(path);
    const { findings, keep } = await verifyArchive({ reader: { read }, key: null, kept, now });
    expect(findings.map(({ kind }) => kind)).toEqual(['unreadable', 'altered', 'unreadable']);
    expect([exitCodeOf(findings), keep]).toEqual([verifyExitCodes.altered, null]);
  });

  it('reads no file of a record that lists a name twice', async () => {
    const content = copyOf(intact);
    const record = recordOf(content, third);
    rewriteRecord(content, { ...record, files: [...record.files, ...record.files] }, simulatedKey);
    const paths: string[] = [];
    const read = (path: string) => {
      paths.push(path);
      return memoryReader(content).read(path);
    };
    const { findings } = await verifyArchive({ reader: { read }, key: null, kept: null, now });
    expect(findings).toMatchObject([{ kind: 'malformed' }]);
    expect(paths.filter((path) => path === `days/${third}/gaps.json`)).toEqual([]);
  });

  it('reports a file of lines that the record does not list', async () => {
    const content = copyOf(intact);
    const record = recordOf(content, third);
    const files = record.files.filter(({ name }) => name !== 'instruments.jsonl');
    rewriteRecord(content, { ...record, files }, simulatedKey);
    const { findings } = await verifyArchive({ reader: memoryReader(content), key: null, kept: null, now });
    expect(findings).toMatchObject([{ kind: 'altered', path: `days/${third}/instruments.jsonl` }]);
  });

  it('rejects if a file cannot be read, instead of reporting it as missing', async () => {
    const reader = { read: () => Promise.reject(new Error('the connection was reset')) };
    await expect(verifyArchive({ reader, key: null, kept: null, now })).rejects.toThrow('the connection was reset');
  });
});
