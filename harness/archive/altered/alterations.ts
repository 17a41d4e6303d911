import { computeFiles, parseInputs } from '../../../src/archive/compute/compute-files.ts';
import { dayMs, startOf } from '../../../src/archive/days/calendar.ts';
import { formatIssues } from '../../../src/archive/days/known-issues.ts';
import { formatDay, sha256Of } from '../../../src/archive/days/records.ts';
import { weatherForm } from '../../../src/archive/hours/weather-day.ts';
import { signCheckpoint, signNote } from '../../../src/archive/log/note.ts';
import {
  bytesOf,
  type Content,
  changeIndex,
  closedDays,
  copyOf,
  flip,
  linesOf,
  recordOf,
  remove,
  replaceText,
  rewriteFile,
  rewriteRecord,
  setLines,
  signDays,
  swap,
  truncate,
} from '../forge.ts';
import { simulatedKey as key } from '../simulated-archive.ts';
import { type Alteration, altered, first, open, otherKey, second, third } from './archives.ts';

const labels = `days/${first}/labels-overview.jsonl`;
const gaps = `days/${first}/gaps.json`;
const record = `days/${first}/day.json`;
const nextRecord = `days/${second}/day.json`;
const openRecord = `days/${open}/day.json`;
const byLabeler = `days/${first}/labels-labelers.csv`;
const totals = `days/${first}/weather-totals.csv`;
const parquet = `days/${first}/labels-totals.parquet`;
const weatherHours = `days/${first}/weather-hours.json`;
const issues = `days/${first}/known-issues.json`;
const [tile, entries] = ['log/tile/0/000.p/4', 'log/tile/entries/000.p/4'];
const checkpoint = 'log/checkpoint';
const index = 'index.json';
const unlogged = { day: '2026-11-19', state: 'closed', sha256: '0'.repeat(64) } as const;

function otherDigest<T extends { readonly day: string }>(listed: T): T {
  return listed.day === second ? { ...listed, sha256: '0'.repeat(64) } : listed;
}

function signWithOtherKey(content: Content): void {
  const copy = copyOf(content);
  signDays(copy, closedDays(copy), otherKey);
  content.set(checkpoint, bytesOf(copy, checkpoint));
}

/** Swaps all files of two days. */
function swapDirectories(content: Content): void {
  const names = [...content.keys()].filter((path) => path.startsWith(`days/${first}/`));
  for (const path of names) swap(content, path, path.replace(first, second));
}

/**
 * Damage that contradicts the other files, the log or the signature, so that verification detects the damage even
 * without a kept checkpoint.
 */
const damages: readonly Alteration[] = [
  altered('a byte of an archived body', 'malformed', labels, (c) => flip(c, labels, 400)),
  altered('a removed row', 'gaps', gaps, (c) => setLines(c, labels, linesOf(c, labels).slice(1))),
  altered('a repeated row', 'malformed', labels, (c) =>
    setLines(c, labels, [...linesOf(c, labels), ...linesOf(c, labels).slice(-1)]),
  ),
  altered('swapped rows', 'malformed', labels, (c) => setLines(c, labels, linesOf(c, labels).reverse())),
  altered('a truncated file of rows', 'malformed', labels, (c) => truncate(c, labels)),
  altered('an emptied file of rows', 'gaps', gaps, (c) => c.set(labels, Buffer.alloc(0))),
  altered('a removed file of rows', 'gaps', gaps, (c) => remove(c, labels)),
  altered('a replaced gap manifest', 'gaps', gaps, (c) => c.set(gaps, Buffer.from('{} \n'))),
  altered('a removed gap manifest', 'missing', 'days/2026-11-21/gaps.json', (c) =>
    remove(c, `days/${second}/gaps.json`),
  ),
  altered('a changed byte in the record of a day', 'altered', record, (c) => flip(c, record, 20)),
  altered('a removed record of a day', 'missing', nextRecord, (c) => remove(c, nextRecord)),
  altered('swapped records of two days', 'altered', record, (c) => swap(c, record, nextRecord)),
  altered('swapped rows of two days', 'malformed', labels, (c) =>
    swap(c, labels, `days/${second}/labels-overview.jsonl`),
  ),
  altered('swapped directories of days', 'altered', record, swapDirectories),
  altered('a removed day', 'missing', nextRecord, (c) => remove(c, `days/${second}`)),
  altered('a truncated tile', 'log', tile, (c) => truncate(c, tile)),
  altered('a changed byte in a tile', 'log', tile, (c) => flip(c, tile, 3)),
  altered('a removed tile', 'missing', tile, (c) => remove(c, tile)),
  altered('a truncated entry bundle', 'log', entries, (c) => truncate(c, entries)),
  altered('a changed byte in an entry', 'log', checkpoint, (c) => flip(c, entries, 40)),
  altered('a removed entry bundle', 'missing', entries, (c) => remove(c, entries)),
  altered('a removed checkpoint', 'missing', checkpoint, (c) => remove(c, checkpoint), {
    kept: 'rollback',
  }),
  altered('a checkpoint that is not a note', 'signature', checkpoint, (c) =>
    c.set(checkpoint, Buffer.from('4 days\n')),
  ),
  altered('a changed byte in the signature', 'signature', checkpoint, (c) =>
    flip(c, checkpoint, bytesOf(c, checkpoint).length - 30),
  ),
  altered('a different size in the checkpoint', 'signature', checkpoint, (c) =>
    flip(c, checkpoint, 'test.example/archive\n'.length),
  ),
  altered(
    'the checkpoint of an older log',
    'log',
    index,
    (c, { older }) => void c.set(checkpoint, bytesOf(older, checkpoint)),
    { isOutside: true },
  ),
  altered('a checkpoint of another key', 'signature', checkpoint, signWithOtherKey),
  altered('a removed index', 'missing', index, (c) => remove(c, index)),
  altered('an index that is not JSON', 'malformed', index, (c) => c.set(index, Buffer.from('{'))),
  altered('a malformed key in the index', 'malformed', index, (c) => changeIndex(c, (i) => ({ ...i, key: 'a+b+c' })), {
    kept: 'key',
    key: 'key',
  }),
  altered('a different key in the index', 'key', index, (c) =>
    changeIndex(c, (i) => ({ ...i, key: otherKey.verifier.text })),
  ),
  altered('a different key in the directory of the log', 'key', 'log/vkey', (c) =>
    c.set('log/vkey', Buffer.from(`${otherKey.verifier.text}\n`)),
  ),
  altered(
    'a closed day that the index omits',
    'missing',
    index,
    (c) => changeIndex(c, (i) => ({ ...i, days: i.days.slice(1) })),
    { isOutside: true },
  ),
  altered(
    'a closed day that is missing from the log',
    'log',
    index,
    (c) => changeIndex(c, (i) => ({ ...i, days: [...i.days, unlogged] })),
    { isOutside: true },
  ),
  altered(
    'a different digest in the index',
    'altered',
    index,
    (c) => changeIndex(c, (i) => ({ ...i, days: i.days.map(otherDigest) })),
    { isOutside: true },
  ),
  altered(
    'a changed row of an open day',
    'altered',
    'days/2026-11-26/instruments.jsonl',
    (c) => flip(c, `days/${open}/instruments.jsonl`, 30),
    { isOutside: true },
  ),
  altered(
    'damaged tombstones of an open day',
    'malformed',
    `days/${open}/withdrawn.json`,
    (c) => void c.set(`days/${open}/withdrawn.json`, Buffer.from('{')),
    { isOutside: true },
  ),
  altered('a changed cell in a table', 'gaps', totals, (c) => replaceText(c, totals, '3600', '3599')),
  altered('a removed row of a table', 'gaps', byLabeler, (c) =>
    setLines(c, byLabeler, linesOf(c, byLabeler).slice(0, -1)),
  ),
  altered('swapped rows of a table', 'gaps', byLabeler, (c) => setLines(c, byLabeler, linesOf(c, byLabeler).reverse())),
  altered('a changed byte in a Parquet file', 'gaps', parquet, (c) => flip(c, parquet, 40)),
  altered('a truncated Parquet file', 'gaps', 'days/2026-11-21/labels-totals.parquet', (c) =>
    truncate(c, `days/${second}/labels-totals.parquet`),
  ),
  altered('a removed table', 'missing', 'days/2026-11-21/labels-labelers.parquet', (c) =>
    remove(c, `days/${second}/labels-labelers.parquet`),
  ),
  altered('a table from another day', 'gaps', byLabeler, (c) =>
    swap(c, byLabeler, `days/${second}/labels-labelers.csv`),
  ),
  altered('a changed count of an hour', 'gaps', 'days/2026-11-20/labels-totals.csv', (c) =>
    replaceText(c, `days/${first}/labels-hours.json`, '"repeats":0', '"repeats":1'),
  ),
  altered('an hours file from another day', 'malformed', weatherHours, (c) =>
    swap(c, weatherHours, `days/${second}/weather-hours.json`),
  ),
  altered('a removed hours file', 'gaps', gaps, (c) => remove(c, weatherHours)),
  altered('an added file of known issues', 'altered', issues, (c) => c.set(issues, formatIssues([])), {
    isOutside: true,
  }),
  altered('a removed record of an open day', 'missing', openRecord, (c) => remove(c, openRecord), { isOutside: true }),
];

/** Changes the text of a file of the third day, and recomputes every dependent digest and the signature. */
function rewriteThird(content: Content, name: string, change: (text: string) => string): void {
  const text = bytesOf(content, `days/${third}/${name}`).toString('utf8');
  const changed = change(text);
  if (changed === text) throw new Error(`${name} does not contain the text`);
  rewriteFile(content, { day: third, name, bytes: Buffer.from(changed), key });
}

function changeRow(content: Content): void {
  const [dropped = '', ...lines] = linesOf(content, `days/${first}/labels-overview.jsonl`);
  const bytes = Buffer.from(`${[dropped.replace('"W/\\"a\\""', 'null'), ...lines].join('\n')}\n`);
  rewriteFile(content, { day: first, name: 'labels-overview.jsonl', bytes, key });
}

/** Adds an empty day before the first day, with all files that a closed day has. */
function backdate(content: Content): void {
  const day = '2026-11-19';
  const inputs = [day, first, second].map((own) =>
    parseInputs(own, (name) => content.get(`days/${own}/${name}`) ?? null),
  );
  const computed = computeFiles(
    day,
    inputs.flatMap((own) => own.inputs ?? []),
    startOf(day) + dayMs,
  );
  for (const { name, bytes } of computed) content.set(`days/${day}/${name}`, bytes);
  const files = computed.map(({ name, bytes }) => ({ name, bytes: bytes.length, sha256: sha256Of(bytes) }));
  const record = formatDay({ ...recordOf(content, first), day, files, revision: 1, previous: null });
  content.set(`days/${day}/day.json`, record);
  signDays(content, [{ day, sha256: sha256Of(record) }, ...closedDays(content)], key);
}

function swapDays(content: Content): void {
  const [a, b, ...rest] = closedDays(content);
  if (a && b) signDays(content, [b, a, ...rest], key);
}

/** Removes the first day from the directory, the index and the log. */
function removeFirst(content: Content): void {
  signDays(content, closedDays(content).slice(1), key);
  remove(content, `days/${first}`);
}

/** Changes the weather hours of a day, together with the tables that are computed from them. */
function changeHours(content: Content): void {
  const hours = weatherForm.parse(bytesOf(content, `days/${first}/weather-hours.json`), first);
  if (!hours) throw new Error('the archive has no hours');
  hours.series[0]?.events.fill(7);
  rewriteFile(content, { day: first, name: 'weather-hours.json', bytes: weatherForm.format(hours), key });
  const own = parseInputs(first, (name) => content.get(`days/${first}/${name}`) ?? null).inputs;
  if (!own) throw new Error('the archive has no inputs');
  for (const { name, bytes } of computeFiles(first, [own], startOf(first) + dayMs)) {
    if (name.startsWith('weather-')) rewriteFile(content, { day: first, name, bytes, key });
  }
}

function closeEarly(content: Content): void {
  const next = '2026-11-24';
  const sha256 = sha256Of(bytesOf(content, `days/${next}/day.json`));
  signDays(content, [...closedDays(content), { day: next, sha256 }], key);
}

function forkSameSize(content: Content): void {
  signDays(
    content,
    closedDays(content).map((leaf) => (leaf.day === second ? { ...leaf, sha256: '0'.repeat(64) } : leaf)),
    key,
  );
}

function signOtherRoot(content: Content): void {
  content.set(checkpoint, Buffer.from(signCheckpoint({ size: 4, root: Buffer.alloc(32) }, key)));
}

function signOtherOrigin(content: Content): void {
  const [, size, root] = linesOf(content, checkpoint);
  content.set(checkpoint, Buffer.from(signNote(`other.example/archive\n${size}\n${root}\n`, key)));
}

/** Alterations with a new, valid signature, which only the holder of a signing key can make. */
const forgeries: readonly Alteration[] = [
  altered('a row that was changed after its day was closed', 'intact', checkpoint, changeRow, {
    kept: 'fork',
  }),
  altered(
    'a backdated record of a day',
    'intact',
    checkpoint,
    (c) => rewriteRecord(c, { ...recordOf(c, first), revision: 1, previous: null }, key),
    { kept: 'fork' },
  ),
  altered('a backdated day', 'intact', checkpoint, backdate, { kept: 'fork' }),
  altered('another key for the whole log', 'intact', index, (c) => signDays(c, closedDays(c), otherKey), {
    kept: 'key',
    key: 'key',
  }),
  altered('an older state of the archive', 'intact', checkpoint, (c) => signDays(c, closedDays(c).slice(0, 1), key), {
    kept: 'rollback',
  }),
  altered('an emptied log', 'intact', checkpoint, (c) => signDays(c, [], key), { kept: 'rollback' }),
  altered('a log without its first day', 'intact', checkpoint, (c) => signDays(c, closedDays(c).slice(1), key), {
    kept: 'fork',
  }),
  altered('a first day that was removed with its log entry', 'intact', checkpoint, removeFirst, {
    kept: 'fork',
  }),
  altered('a log that lacks one day', 'order', 'log/', (c) => signDays(c, closedDays(c).toSpliced(2, 1), key)),
  altered('swapped days in the log', 'order', checkpoint, swapDays, { kept: 'fork' }),
  altered('a day that is logged twice', 'order', 'log/', (c) =>
    signDays(c, [...closedDays(c), ...closedDays(c).slice(-1)], key),
  ),
  altered('a day that was closed too early', 'order', 'log/', closeEarly, { isOutside: true }),
  altered('a forked log of the same size', 'altered', checkpoint, forkSameSize, { kept: 'fork' }),
  altered('a signed root that does not match the entries', 'log', checkpoint, signOtherRoot),
  altered('a signed checkpoint from another origin', 'signature', checkpoint, signOtherOrigin),
  altered(
    'a gap manifest with different white space',
    'gaps',
    'days/2026-11-22/gaps.json',
    (c) => rewriteThird(c, 'gaps.json', (text) => text.replace('"gaps":[', '"gaps":[ ')),
    { isOutside: true },
  ),
  altered(
    'a body whose own digest was not recomputed',
    'malformed',
    'days/2026-11-22/weather-metrics.jsonl',
    (c) => rewriteThird(c, 'weather-metrics.jsonl', (text) => text.replaceAll('86400', '86401')),
    { isOutside: true },
  ),
  altered(
    'a table that does not match the hours',
    'gaps',
    'days/2026-11-22/weather-totals.csv',
    (c) => rewriteThird(c, 'weather-totals.csv', (text) => text.replace('3600', '0')),
    { isOutside: true },
  ),
  altered('hours that were changed together with their tables', 'intact', checkpoint, changeHours, {
    kept: 'fork',
  }),
  altered(
    'a file of an unknown kind',
    'malformed',
    'days/2026-11-22/other.csv',
    (c) => rewriteFile(c, { day: third, name: 'other.csv', bytes: Buffer.from('a\n'), key }),
    { isOutside: true },
  ),
];

/** All alterations: damage without a new signature, and forgeries that only the holder of a signing key can make. */
export const alterations: readonly Alteration[] = [...damages, ...forgeries];
