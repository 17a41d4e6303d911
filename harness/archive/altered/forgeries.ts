import { computeFiles, parseInputs } from '../../../src/archive/compute/compute-files.ts';
import { dayMs, startOf } from '../../../src/archive/days/calendar.ts';
import { formatDay, sha256Of } from '../../../src/archive/days/records.ts';
import { weatherForm } from '../../../src/archive/hours/weather-day.ts';
import { signCheckpoint, signNote } from '../../../src/archive/log/note.ts';
import { type Content, closedDays, rewriteFile, rewriteRecord, signDays } from '../forge.ts';
import { simulatedKey as key } from '../simulated-archive.ts';
import { bytesOf, linesOf, recordOf, remove } from './alter.ts';
import { type Alteration, first, otherKey, second, third } from './archives.ts';

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
  content.set('log/checkpoint', Buffer.from(signCheckpoint({ size: 4, root: Buffer.alloc(32) }, key)));
}

function signOtherOrigin(content: Content): void {
  const [, size, root] = linesOf(content, 'log/checkpoint');
  content.set('log/checkpoint', Buffer.from(signNote(`other.example/archive\n${size}\n${root}\n`, key)));
}

/** Alterations with a new, valid signature, which only the holder of a signing key can make. */
export const forgeries: readonly Alteration[] = [
  {
    name: 'a row that was changed after its day was closed',
    first: 'intact',
    kept: 'fork',
    path: 'log/checkpoint',
    alter: changeRow,
  },
  {
    name: 'a backdated record of a day',
    first: 'intact',
    kept: 'fork',
    path: 'log/checkpoint',
    alter: (c) => rewriteRecord(c, { ...recordOf(c, first), revision: 1, previous: null }, key),
  },
  { name: 'a backdated day', first: 'intact', kept: 'fork', path: 'log/checkpoint', alter: backdate },
  {
    name: 'another key for the whole log',
    first: 'intact',
    kept: 'key',
    key: 'key',
    path: 'index.json',
    alter: (c) => signDays(c, closedDays(c), otherKey),
  },
  {
    name: 'an older state of the archive',
    first: 'intact',
    kept: 'rollback',
    path: 'log/checkpoint',
    alter: (c) => signDays(c, closedDays(c).slice(0, 1), key),
  },
  {
    name: 'an emptied log',
    first: 'intact',
    kept: 'rollback',
    path: 'log/checkpoint',
    alter: (c) => signDays(c, [], key),
  },
  {
    name: 'a log without its first day',
    first: 'intact',
    kept: 'fork',
    path: 'log/checkpoint',
    alter: (c) => signDays(c, closedDays(c).slice(1), key),
  },
  {
    name: 'a first day that was removed with its log entry',
    first: 'intact',
    kept: 'fork',
    path: 'log/checkpoint',
    alter: removeFirst,
  },
  {
    name: 'a log that lacks one day',
    first: 'order',
    path: 'log/',
    alter: (c) => signDays(c, closedDays(c).toSpliced(2, 1), key),
  },
  { name: 'swapped days in the log', first: 'order', kept: 'fork', path: 'log/checkpoint', alter: swapDays },
  {
    name: 'a day that is logged twice',
    first: 'order',
    path: 'log/',
    alter: (c) => signDays(c, [...closedDays(c), ...closedDays(c).slice(-1)], key),
  },
  { name: 'a day that was closed too early', first: 'order', path: 'log/', isOutside: true, alter: closeEarly },
  {
    name: 'a forked log of the same size',
    first: 'altered',
    kept: 'fork',
    path: 'log/checkpoint',
    alter: forkSameSize,
  },
  { name: 'a signed root that does not match the entries', first: 'log', path: 'log/checkpoint', alter: signOtherRoot },
  {
    name: 'a signed checkpoint from another origin',
    first: 'signature',
    path: 'log/checkpoint',
    alter: signOtherOrigin,
  },
  {
    name: 'a gap manifest with different white space',
    first: 'gaps',
    path: 'days/2026-11-22/gaps.json',
    isOutside: true,
    alter: (c) => rewriteThird(c, 'gaps.json', (text) => text.replace('"gaps":[', '"gaps":[ ')),
  },
  {
    name: 'a body whose own digest was not recomputed',
    first: 'malformed',
    path: 'days/2026-11-22/weather-metrics.jsonl',
    isOutside: true,
    alter: (c) => rewriteThird(c, 'weather-metrics.jsonl', (text) => text.replaceAll('86400', '86401')),
  },
  {
    name: 'a table that does not match the hours',
    first: 'gaps',
    path: 'days/2026-11-22/weather-totals.csv',
    isOutside: true,
    alter: (c) => rewriteThird(c, 'weather-totals.csv', (text) => text.replace('3600', '0')),
  },
  {
    name: 'hours that were changed together with their tables',
    first: 'intact',
    kept: 'fork',
    path: 'log/checkpoint',
    alter: changeHours,
  },
  {
    name: 'a file of an unknown kind',
    first: 'malformed',
    path: 'days/2026-11-22/other.csv',
    isOutside: true,
    alter: (c) => rewriteFile(c, { day: third, name: 'other.csv', bytes: Buffer.from('a\n'), key }),
  },
];
