/**
 * Measures an archive of one year: `node bench/archive/year.ts [--days 365] [--labelers 700] [--body 15000]`.
 *
 * Each day has the tables of `--labelers` labelers and `--body` bytes of response bodies per hour. Prints the size, the
 * duration of a verification, the size of the index and of the page, and the processor time of the page.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { parseArgs } from 'node:util';
import { build } from 'rolldown';
import { writeClosedArchive } from '../../harness/archive/closed-archive.ts';
import { temporaryFolder } from '../../harness/process/at-exit.ts';
import { archiveSummary } from '../../src/archive/summary/archive-summary.ts';
import { directoryReader } from '../../src/archive/verify/archive-reader.ts';
import { verifyArchive } from '../../src/archive/verify/verify.ts';
import type { archivePage } from '../../src/facts/archive/archive-page.tsx';
import { packageRoot } from '../../src/main/command.ts';

const { values } = parseArgs({
  options: {
    days: { type: 'string', default: '365' },
    labelers: { type: 'string', default: '700' },
    body: { type: 'string', default: '15000' },
  },
});
const days = Number(values.days);
const hourMs = 3_600_000;
const now = Date.parse('2026-11-23T12:00:00Z');
const { folder: root, remove } = temporaryFolder('bench');
const letters = (index: number): string =>
  index.toString().replace(/\d/g, (digit) => 'abcdefghij'.charAt(Number(digit)));
const labelers = Array.from({ length: Number(values.labelers) }, (_, at) => `did:plc:${letters(at).padStart(24, 'z')}`);
const gaps = Array.from({ length: 2 * days }, (_, at) => {
  const start = now - (at * 13 + 7) * hourMs;
  return { start, end: start + ((at % 7) + 1) * 600_000 };
});

/** Returns the result of `work`, with its duration and its processor time in milliseconds. */
async function measured<T>(work: () => Promise<T>): Promise<{ result: T; ms: number; cpuMs: number }> {
  const [startedAt, before] = [performance.now(), process.cpuUsage()];
  const result = await work();
  const { user, system } = process.cpuUsage(before);
  return { result, ms: Math.round(performance.now() - startedAt), cpuMs: Math.round((user + system) / 1000) };
}

/** Imports the page from a bundle, because Node.js cannot read its JSX. */
async function importPage(): Promise<typeof archivePage> {
  const file = join(root, 'page.mjs');
  await build({
    cwd: packageRoot(),
    input: 'src/facts/archive/archive-page.tsx',
    platform: 'node',
    output: { file, format: 'esm' },
    logLevel: 'warn',
  });
  const page = (await import(pathToFileURL(file).href)) as { archivePage: typeof archivePage };
  return page.archivePage;
}

try {
  let bytes = 0;
  writeClosedArchive({
    ...{ before: now, days, padding: Number(values.body) / 4 },
    faults: {
      weather: gaps,
      labels: gaps.map((gap, at) => ({ ...gap, labeler: labelers[at % labelers.length] ?? '' })),
      labelers,
    },
    write(path, file) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), file);
      bytes += file.length;
    },
  });
  console.log(`${days} days: ${(bytes / 1e6).toFixed(0)} MB`);
  const options = { reader: directoryReader(root), key: null, kept: null, now: now + 72 * hourMs };
  const verified = await measured(() => verifyArchive({ ...options, wait: () => Promise.resolve() }));
  const { findings, closedDays } = verified.result;
  console.log(
    `verify: ${closedDays} days, ${findings.length} findings, ${verified.ms} ms, ${verified.cpuMs} ms of CPU`,
  );
  const failed = (error: unknown): never => {
    throw error;
  };
  const summary = archiveSummary({ root, pollMs: 60_000, findIdentityIn: () => null, failed });
  const read = await measured(async () => {
    await summary.start();
    while (summary.days() === null) await new Promise((resolve) => setTimeout(resolve, 10));
  });
  await summary.stop();
  console.log(`summary: ${read.cpuMs} ms of CPU for the first read, split into several turns`);
  const createPage = await importPage();
  // Create a new page for each call, because a page renders only once for each hour and is then cached.
  const render = (at: number): Buffer => createPage([], summary)('identity', at, null).body ?? Buffer.alloc(0);
  for (let hour = 0; hour < 20; hour += 1) render(now + hour * hourMs);
  const runs = 100;
  const page = await measured(() =>
    Promise.resolve(Array.from({ length: runs }, () => render(now)).at(-1)?.length ?? 0),
  );
  const index = readFileSync(join(root, 'index.json')).length;
  console.log(`index: ${index} bytes; page: ${page.result} bytes, ${(page.cpuMs / runs).toFixed(1)} ms of CPU`);
} finally {
  remove();
}
