import { formatIssues } from '../../../src/archive/days/known-issues.ts';
import { type Content, closedDays, copyOf, signDays } from '../forge.ts';
import { bytesOf, changeIndex, flip, linesOf, remove, replaceText, setLines, swap, truncate } from './alter.ts';
import { type Alteration, first, open, otherKey, second } from './archives.ts';

const labels = `days/${first}/labels-overview.jsonl`;
const byLabeler = `days/${first}/labels-labelers.csv`;
const weatherHours = `days/${first}/weather-hours.json`;
const unlogged = { day: '2026-11-19', state: 'closed', sha256: '0'.repeat(64) } as const;

function otherDigest<T extends { readonly day: string }>(listed: T): T {
  return listed.day === second ? { ...listed, sha256: '0'.repeat(64) } : listed;
}

function signWithOtherKey(content: Content): void {
  const copy = copyOf(content);
  signDays(copy, closedDays(copy), otherKey);
  content.set('log/checkpoint', bytesOf(copy, 'log/checkpoint'));
}

/** Swaps all files of two days. */
function swapDays(content: Content): void {
  const names = [...content.keys()].filter((path) => path.startsWith(`days/${first}/`));
  for (const path of names) swap(content, path, path.replace(first, second));
}

/**
 * Damage that contradicts the other files, the log or the signature, so that verification detects the damage even
 * without a kept checkpoint.
 */
export const damages: readonly Alteration[] = [
  {
    name: 'a byte of an archived body',
    first: 'malformed',
    path: 'days/2026-11-20/labels-overview.jsonl',
    alter: (c) => flip(c, labels, 400),
  },
  {
    name: 'a removed row',
    first: 'gaps',
    path: 'days/2026-11-20/gaps.json',
    alter: (c) => setLines(c, labels, linesOf(c, labels).slice(1)),
  },
  {
    name: 'a repeated row',
    first: 'malformed',
    path: 'days/2026-11-20/labels-overview.jsonl',
    alter: (c) => setLines(c, labels, [...linesOf(c, labels), ...linesOf(c, labels).slice(-1)]),
  },
  {
    name: 'swapped rows',
    first: 'malformed',
    path: 'days/2026-11-20/labels-overview.jsonl',
    alter: (c) => setLines(c, labels, linesOf(c, labels).reverse()),
  },
  {
    name: 'a truncated file of rows',
    first: 'malformed',
    path: 'days/2026-11-20/labels-overview.jsonl',
    alter: (c) => truncate(c, labels),
  },
  {
    name: 'an emptied file of rows',
    first: 'gaps',
    path: 'days/2026-11-20/gaps.json',
    alter: (c) => void c.set(labels, Buffer.alloc(0)),
  },
  { name: 'a removed file of rows', first: 'gaps', path: 'days/2026-11-20/gaps.json', alter: (c) => remove(c, labels) },
  {
    name: 'a replaced gap manifest',
    first: 'gaps',
    path: 'days/2026-11-20/gaps.json',
    alter: (c) => void c.set(`days/${first}/gaps.json`, Buffer.from('{} \n')),
  },
  {
    name: 'a removed gap manifest',
    first: 'missing',
    path: 'days/2026-11-21/gaps.json',
    alter: (c) => remove(c, `days/${second}/gaps.json`),
  },
  {
    name: 'a changed byte in the record of a day',
    first: 'altered',
    path: 'days/2026-11-20/day.json',
    alter: (c) => flip(c, `days/${first}/day.json`, 20),
  },
  {
    name: 'a removed record of a day',
    first: 'missing',
    path: 'days/2026-11-21/day.json',
    alter: (c) => remove(c, `days/${second}/day.json`),
  },
  {
    name: 'swapped records of two days',
    first: 'altered',
    path: 'days/2026-11-20/day.json',
    alter: (c) => swap(c, `days/${first}/day.json`, `days/${second}/day.json`),
  },
  {
    name: 'swapped rows of two days',
    first: 'malformed',
    path: 'days/2026-11-20/labels-overview.jsonl',
    alter: (c) => swap(c, labels, `days/${second}/labels-overview.jsonl`),
  },
  { name: 'swapped directories of days', first: 'altered', path: 'days/2026-11-20/day.json', alter: swapDays },
  {
    name: 'a removed day',
    first: 'missing',
    path: 'days/2026-11-21/day.json',
    alter: (c) => remove(c, `days/${second}`),
  },
  {
    name: 'a truncated tile',
    first: 'log',
    path: 'log/tile/0/000.p/4',
    alter: (c) => truncate(c, 'log/tile/0/000.p/4'),
  },
  {
    name: 'a changed byte in a tile',
    first: 'log',
    path: 'log/tile/0/000.p/4',
    alter: (c) => flip(c, 'log/tile/0/000.p/4', 3),
  },
  {
    name: 'a removed tile',
    first: 'missing',
    path: 'log/tile/0/000.p/4',
    alter: (c) => remove(c, 'log/tile/0/000.p/4'),
  },
  {
    name: 'a truncated entry bundle',
    first: 'log',
    path: 'log/tile/entries/000.p/4',
    alter: (c) => truncate(c, 'log/tile/entries/000.p/4'),
  },
  {
    name: 'a changed byte in an entry',
    first: 'log',
    path: 'log/checkpoint',
    alter: (c) => flip(c, 'log/tile/entries/000.p/4', 40),
  },
  {
    name: 'a removed entry bundle',
    first: 'missing',
    path: 'log/tile/entries/000.p/4',
    alter: (c) => remove(c, 'log/tile/entries/000.p/4'),
  },
  {
    name: 'a removed checkpoint',
    first: 'missing',
    kept: 'rollback',
    path: 'log/checkpoint',
    alter: (c) => remove(c, 'log/checkpoint'),
  },
  {
    name: 'a checkpoint that is not a note',
    first: 'signature',
    path: 'log/checkpoint',
    alter: (c) => void c.set('log/checkpoint', Buffer.from('4 days\n')),
  },
  {
    name: 'a changed byte in the signature',
    first: 'signature',
    path: 'log/checkpoint',
    alter: (c) => flip(c, 'log/checkpoint', bytesOf(c, 'log/checkpoint').length - 30),
  },
  {
    name: 'a different size in the checkpoint',
    first: 'signature',
    path: 'log/checkpoint',
    alter: (c) => flip(c, 'log/checkpoint', 'test.example/archive\n'.length),
  },
  {
    name: 'the checkpoint of an older log',
    first: 'log',
    path: 'index.json',
    isOutside: true,
    alter: (c, { older }) => void c.set('log/checkpoint', bytesOf(older, 'log/checkpoint')),
  },
  { name: 'a checkpoint of another key', first: 'signature', path: 'log/checkpoint', alter: signWithOtherKey },
  { name: 'a removed index', first: 'missing', path: 'index.json', alter: (c) => remove(c, 'index.json') },
  {
    name: 'an index that is not JSON',
    first: 'malformed',
    path: 'index.json',
    alter: (c) => void c.set('index.json', Buffer.from('{')),
  },
  {
    name: 'a malformed key in the index',
    first: 'malformed',
    kept: 'key',
    key: 'key',
    path: 'index.json',
    alter: (c) => changeIndex(c, (i) => ({ ...i, key: 'a+b+c' })),
  },
  {
    name: 'a different key in the index',
    first: 'key',
    path: 'index.json',
    alter: (c) => changeIndex(c, (i) => ({ ...i, key: otherKey.verifier.text })),
  },
  {
    name: 'a different key in the directory of the log',
    first: 'key',
    path: 'log/vkey',
    alter: (c) => c.set('log/vkey', Buffer.from(`${otherKey.verifier.text}\n`)),
  },
  {
    name: 'a closed day that the index omits',
    first: 'missing',
    path: 'index.json',
    isOutside: true,
    alter: (c) => changeIndex(c, (i) => ({ ...i, days: i.days.slice(1) })),
  },
  {
    name: 'a closed day that is missing from the log',
    first: 'log',
    path: 'index.json',
    isOutside: true,
    alter: (c) => changeIndex(c, (i) => ({ ...i, days: [...i.days, unlogged] })),
  },
  {
    name: 'a different digest in the index',
    first: 'altered',
    path: 'index.json',
    isOutside: true,
    alter: (c) => changeIndex(c, (i) => ({ ...i, days: i.days.map(otherDigest) })),
  },
  {
    name: 'a changed row of an open day',
    first: 'altered',
    path: 'days/2026-11-26/instruments.jsonl',
    isOutside: true,
    alter: (c) => flip(c, `days/${open}/instruments.jsonl`, 30),
  },
  {
    name: 'a changed cell in a table',
    first: 'gaps',
    path: 'days/2026-11-20/weather-totals.csv',
    alter: (c) => replaceText(c, `days/${first}/weather-totals.csv`, '3600', '3599'),
  },
  {
    name: 'a removed row of a table',
    first: 'gaps',
    path: 'days/2026-11-20/labels-labelers.csv',
    alter: (c) => setLines(c, byLabeler, linesOf(c, byLabeler).slice(0, -1)),
  },
  {
    name: 'swapped rows of a table',
    first: 'gaps',
    path: 'days/2026-11-20/labels-labelers.csv',
    alter: (c) => setLines(c, byLabeler, linesOf(c, byLabeler).reverse()),
  },
  {
    name: 'a changed byte in a Parquet file',
    first: 'gaps',
    path: 'days/2026-11-20/labels-totals.parquet',
    alter: (c) => flip(c, `days/${first}/labels-totals.parquet`, 40),
  },
  {
    name: 'a truncated Parquet file',
    first: 'gaps',
    path: 'days/2026-11-21/labels-totals.parquet',
    alter: (c) => truncate(c, `days/${second}/labels-totals.parquet`),
  },
  {
    name: 'a removed table',
    first: 'missing',
    path: 'days/2026-11-21/labels-labelers.parquet',
    alter: (c) => remove(c, `days/${second}/labels-labelers.parquet`),
  },
  {
    name: 'a table from another day',
    first: 'gaps',
    path: 'days/2026-11-20/labels-labelers.csv',
    alter: (c) => swap(c, byLabeler, `days/${second}/labels-labelers.csv`),
  },
  {
    name: 'a changed count of an hour',
    first: 'gaps',
    path: 'days/2026-11-20/labels-totals.csv',
    alter: (c) => replaceText(c, `days/${first}/labels-hours.json`, '"repeats":0', '"repeats":1'),
  },
  {
    name: 'an hours file from another day',
    first: 'malformed',
    path: 'days/2026-11-20/weather-hours.json',
    alter: (c) => swap(c, weatherHours, `days/${second}/weather-hours.json`),
  },
  {
    name: 'a removed hours file',
    first: 'gaps',
    path: 'days/2026-11-20/gaps.json',
    alter: (c) => remove(c, weatherHours),
  },
  {
    name: 'an added file of known issues',
    first: 'altered',
    path: 'days/2026-11-20/known-issues.json',
    isOutside: true,
    alter: (c) => void c.set(`days/${first}/known-issues.json`, formatIssues([])),
  },
  {
    name: 'a removed record of an open day',
    first: 'missing',
    path: 'days/2026-11-26/day.json',
    isOutside: true,
    alter: (c) => remove(c, `days/${open}/day.json`),
  },
];
