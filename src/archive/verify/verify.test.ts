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
import { computeFiles, parseInputs } from '../compute/inputs.ts';
import { hourMs } from '../days/calendar.ts';
import { parseDay } from '../days/day.ts';
import { formatIndex, parseIndex } from '../days/index-file.ts';
import { formatIssues } from '../days/known-issues.ts';
import { formatWeatherDay, parseWeatherDay } from '../hours/weather-day.ts';
import { signerKey } from '../log/keys.ts';
import { exitCodeOf, type FindingKind, verifyExitCodes } from './finding.ts';
import type { KeptCheckpoint } from './report.ts';
import { verifyArchive } from './verify.ts';

/** The archive in memory does not change between the passes of a verification. */
const wait = (): Promise<void> => Promise.resolve();

/** An archive with four closed and three open days, and what a verifier kept when it had two. */
let intact: Content = new Map();
let older: Content = new Map();
let kept: KeptCheckpoint | null = null;
const now = simulatedStart + (24 * 6 + 1) * hourMs;
const otherKey = signerKey('test.example/archive', Buffer.alloc(32, 9));
const [first, second, third, open] = ['2026-11-20', '2026-11-21', '2026-11-22', '2026-11-26'];
const labels = `days/${first}/labels-overview.jsonl`;
const byLabeler = `days/${first}/labels-by-labeler.csv`;
const weatherHours = `days/${first}/weather-hours.json`;

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

function replaceText(content: Content, path: string, from: string, to: string): void {
  const text = bytesOf(content, path).toString('utf8');
  expect(text).toContain(from);
  content.set(path, Buffer.from(text.replace(from, to)));
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
  ['a cell of a table', 'gaps', (c) => replaceText(c, `days/${first}/weather-by-hour.csv`, '3600', '3599')],
  ['a removed row of a table', 'gaps', (c) => setLines(c, byLabeler, linesOf(c, byLabeler).slice(0, -1))],
  ['swapped rows of a table', 'gaps', (c) => setLines(c, byLabeler, linesOf(c, byLabeler).reverse())],
  ['a byte of a Parquet file', 'gaps', (c) => flip(c, `days/${first}/labels-by-hour.parquet`, 40)],
  ['a truncated Parquet file', 'gaps', (c) => truncate(c, `days/${second}/labels-by-hour.parquet`)],
  ['a removed table', 'missing', (c) => void c.delete(`days/${second}/labels-by-labeler.parquet`)],
  ['the table of another day', 'gaps', (c) => swap(c, byLabeler, `days/${second}/labels-by-labeler.csv`)],
  [
    'another count of an hour',
    'gaps',
    (c) => replaceText(c, `days/${first}/labels-hours.json`, '"repeats":0', '"repeats":1'),
  ],
  ['an hours file of another day', 'malformed', (c) => swap(c, weatherHours, `days/${second}/weather-hours.json`)],
  ['a removed hours file', 'gaps', (c) => void c.delete(weatherHours)],
  ['an added file of known issues', 'altered', (c) => void c.set(`days/${first}/known-issues.json`, formatIssues([]))],
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
    'a table whose values are not those of the hours',
    'gaps',
    'gaps',
    (c) => {
      const path = `days/${third}/weather-by-hour.csv`;
      const bytes = Buffer.from(bytesOf(c, path).toString('utf8').replace('3600', '0'));
      rewriteFile(c, { day: third, name: 'weather-by-hour.csv', bytes, key: simulatedKey });
    },
  ],
  [
    'hours that were changed with their tables',
    'intact',
    'fork',
    (c) => {
      const path = `days/${first}/weather-hours.json`;
      const hours = parseWeatherDay(bytesOf(c, path), first);
      if (!hours) throw new Error('the archive has no hours');
      hours.series[0]?.events.fill(7);
      rewriteFile(c, { day: first, name: 'weather-hours.json', bytes: formatWeatherDay(hours), key: simulatedKey });
      const [own] = [first].map((day) => parseInputs(day, (name) => c.get(`days/${day}/${name}`) ?? null).inputs);
      for (const { name, bytes } of own ? computeFiles(first, [own], simulatedStart + 24 * hourMs) : []) {
        if (name.startsWith('weather-by-hour')) rewriteFile(c, { day: first, name, bytes, key: simulatedKey });
      }
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
    wait,
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
    const withKey = await verifyArchive({ reader: memoryReader(intact), key, kept: null, now, wait });
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

  it.each([
    ['commands for a terminal', '\u001b]0;owned\u0007'],
    ['a name that changes the direction of the text', simulatedKey.verifier.text.replace('+', '\u202e+')],
  ])('repeats no %s from the index', async (_, text) => {
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
    expect(found).toMatchObject({ kind: 'key', message: `the key is malformed, not ${otherKey.verifier.text}` });
  });

  it('reports a key that differs from the given one, although the archive is consistent', async () => {
    const { findings } = await verifyArchive({
      reader: memoryReader(intact),
      key: otherKey.verifier,
      kept: null,
      now,
      wait,
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
    const { findings, keep } = await verifyArchive({ reader: { read }, key: null, kept, now, wait });
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
    const { findings } = await verifyArchive({ reader: { read }, key: null, kept: null, now, wait });
    expect(findings).toMatchObject([{ kind: 'malformed' }]);
    expect(paths.filter((path) => path === `days/${third}/gaps.json`)).toEqual([]);
  });

  it('reports a file of lines that the record does not list', async () => {
    const content = copyOf(intact);
    const record = recordOf(content, third);
    const files = record.files.filter(({ name }) => name !== 'instruments.jsonl');
    rewriteRecord(content, { ...record, files }, simulatedKey);
    const { findings } = await verifyArchive({ reader: memoryReader(content), key: null, kept: null, now, wait });
    expect(findings).toMatchObject([{ kind: 'altered', path: `days/${third}/instruments.jsonl` }]);
  });

  it('rejects if a file cannot be read, instead of reporting it as missing', async () => {
    const reader = { read: () => Promise.reject(new Error('the connection was reset')) };
    await expect(verifyArchive({ reader, key: null, kept: null, now, wait })).rejects.toThrow(
      'the connection was reset',
    );
  });
});

/** Archives the hour in which the first day is closed; returns the archive before and after it, and after each write. */
async function closingHour() {
  const archive = simulateArchive();
  // The hours that confirm the first day suffice: the others are gaps.
  await archive.run(1);
  await archive.run(24, 48);
  const before = archive.copy();
  await archive.run(1, 72);
  const writes = archive.writes() - before.writes();
  const states: Content[] = [];
  for (let count = 1; count <= writes; count++) {
    const stopped = simulateArchive({ memory: before.copy() });
    stopped.failAt(count, { effect: 'nothing', error: new Error('killed') });
    await stopped.run(1, 72).catch(() => undefined);
    states.push(copyOf(stopped.content));
  }
  return { before: before.content, after: archive.content, states };
}

const closingAt = simulatedStart + 73 * hourMs;

describe('a verification of an archive that is being written', () => {
  it('has no finding, whichever read sees the first file of the next hour', async () => {
    const { before, after } = await closingHour();
    let reads = 0;
    const count = (path: string) => {
      reads += 1;
      return memoryReader(after).read(path);
    };
    await verifyArchive({ reader: { read: count }, key: null, kept: null, now: closingAt, wait });
    expect(reads).toBeGreaterThan(30);
    for (let change = 0; change <= reads; change++) {
      let at = 0;
      const read = (path: string) => memoryReader(at++ < change ? before : after).read(path);
      const { findings } = await verifyArchive({ reader: { read }, key: null, kept: null, now: closingAt, wait });
      expect(findings, `change at read ${change}`).toEqual([]);
    }
  });

  it('has no finding in a directory whose archiver was killed at any of its writes', async () => {
    const { states } = await closingHour();
    expect(states.length).toBeGreaterThan(15);
    for (const [at, content] of states.entries()) {
      const reader = memoryReader(content);
      const { findings } = await verifyArchive({ reader, key: null, kept: null, now: closingAt, wait });
      expect(findings, `kill at write ${at + 1}`).toEqual([]);
    }
  });

  it('repeats a pass only as long as the archive changes, and at most five times', async () => {
    let [waits, changes] = [0, 0];
    const content = copyOf(intact);
    flip(content, `days/${first}/day.json`, 20);
    const options = { reader: memoryReader(content), key: null, kept: null, now };
    const waitAndCount = () => {
      waits += 1;
      return Promise.resolve();
    };
    await verifyArchive({ ...options, wait: waitAndCount });
    expect(waits).toBe(2);
    const change = () => {
      changes += 1;
      content.set('index.json', Buffer.concat([bytesOf(content, 'index.json'), Buffer.from(' ')]));
      return Promise.resolve();
    };
    await verifyArchive({ ...options, wait: change });
    expect(changes).toBe(4);
  });
});

describe('a fork', () => {
  const bundle = 'log/tile/entries/000.p/4';
  const forked = (): Content => {
    const content = copyOf(intact);
    const other = closedDays(content).map((day, index) => (index === 0 ? { ...day, sha256: '0'.repeat(64) } : day));
    signDays(content, other, simulatedKey);
    return content;
  };
  const kindsWithout = async (content: Content, ...paths: string[]) => {
    const read = (path: string) =>
      paths.includes(path) ? Promise.reject(new OperatorError('status 500')) : memoryReader(content).read(path);
    const { findings, keep } = await verifyArchive({ reader: { read }, key: null, kept, now, wait });
    expect(keep).toBeNull();
    return findings.map(({ kind }) => kind);
  };

  it('is reported although the entries, the index or both cannot be read', async () => {
    expect(await kindsWithout(forked(), bundle)).toEqual(['unreadable', 'fork']);
    expect(await kindsWithout(forked(), 'index.json')).toContain('fork');
    expect(await kindsWithout(forked(), bundle, 'index.json')).toEqual(['unreadable', 'unreadable', 'fork']);
    const removed = forked();
    removed.delete(bundle);
    expect(await kindsWithout(removed)).toEqual(['missing', 'fork']);
  });

  it('cannot be excluded without the entries and the tiles, which is reported', async () => {
    expect(await kindsWithout(intact, bundle)).toEqual(['unreadable']);
    expect(await kindsWithout(intact, bundle, 'log/tile/0/000.p/4')).toEqual(['unreadable', 'unreadable']);
    const truncated = copyOf(intact);
    truncate(truncated, 'log/tile/0/000.p/4');
    expect(await kindsWithout(truncated, bundle)).toEqual(['unreadable', 'log']);
  });
});
