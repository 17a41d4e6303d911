import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parseCsv, rowOfCells } from '../../harness/process/csv.ts';
import { account, filledStore, labeler, startAccount } from '../../harness/process/export-station.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { onceInFile } from '../../harness/process/once-in-file.ts';
import { runProgram } from '../../harness/process/program-in-test.ts';

/** Tests the export command with the running service and a real store. Independent code parses the files. */

interface ReadPart {
  manifest: {
    interval: { start: string; end: string };
    account: string;
    coverage: { warmup: { start: string; end: string } | null };
  };
  rows: Record<string, string>[];
  count: number;
  content_sha256: string;
}

function readJson(file: string): ReadPart[] {
  const document = JSON.parse(readFileSync(file, 'utf8')) as ReadPart | { parts: ReadPart[]; count: number };
  if (!('parts' in document)) return [document];
  expect(document.count).toBe(document.parts.reduce((sum, { count }) => sum + count, 0));
  return document.parts;
}

function readNdjson(file: string): ReadPart[] {
  const text = readFileSync(file, 'utf8');
  expect(text.endsWith('\n')).toBe(true);
  const parts: ReadPart[] = [];
  let digest = Buffer.alloc(0);
  for (const line of text.trimEnd().split('\n')) {
    const value = JSON.parse(line) as Record<string, unknown>;
    const part = parts.at(-1);
    if ('schema' in value) {
      parts.push({ manifest: value as unknown as ReadPart['manifest'], rows: [], count: -1, content_sha256: '' });
      digest = createHash('sha256').update(line).digest();
    } else if ('content_sha256' in value && part) {
      Object.assign(part, value);
      // Compute the digest from the lines themselves: they are canonical JSON, so the digest can be verified without a
      // parser.
      expect(value.content_sha256).toBe(digest.toString('hex'));
    } else {
      part?.rows.push(value as Record<string, string>);
      digest = createHash('sha256').update(digest).update(line).digest();
    }
  }
  return parts;
}

function readCsv(file: string): ReadPart[] {
  const bytes = readFileSync(file);
  const [, ...records] = parseCsv(bytes.toString('utf8'));
  const manifest = JSON.parse(readFileSync(`${file}.manifest.json`, 'utf8')) as ReadPart & {
    parts?: ReadPart[];
    file_sha256: string;
  };
  expect(manifest.file_sha256).toBe(createHash('sha256').update(bytes).digest('hex'));
  const rows = records.map(rowOfCells);
  return (manifest.parts ?? [manifest]).map((part) => ({ ...part, rows: rows.splice(0, part.count) }));
}

const readers = { json: readJson, ndjson: readNdjson, csv: readCsv } as const;
const formats = Object.keys(readers) as (keyof typeof readers)[];

function filesOf(file: string, format: string): string[] {
  return format === 'csv' ? [file, `${file}.manifest.json`] : [file];
}

/** A store and the service over it, for tests that only read. */
const serving = onceInFile(async (later, labels: number, ...args: readonly string[]) => {
  const { url: store, rows } = await filledStore(labels, later);
  const { url } = await startAccount(store, args, folderInTest(later), later);
  return { url, rows };
});

describe('almanac export', () => {
  it.each(formats)('writes exactly the rows of the account (%s)', async (format) => {
    const { url, rows } = await serving(400);
    const folder = folderInTest();
    const file = join(folder, `rows.${format}`);
    const { code, stdout, stderr } = await runProgram([
      'export',
      account,
      '--from',
      url,
      '--days',
      '7',
      '--format',
      format,
      '--out',
      file,
    ]);
    expect([code, stderr.filter((line) => !line.includes(' rows'))]).toEqual([0, []]);
    const [part, ...others] = readers[format](file);
    expect(others).toEqual([]);
    expect(part?.rows).toEqual(rows);
    expect([part?.count, part?.manifest.account]).toEqual([rows.length, account]);
    expect(readdirSync(folder).sort()).toEqual(filesOf(`rows.${format}`, format));
    expect(stdout[0]).toBe(`${file}: ${rows.length} rows, verified`);
  });

  it.each(formats)('downloads several parts if one export cannot contain all rows (%s)', async (format) => {
    const { url, rows } = await serving(400, '--max-export-rows', '60');
    const file = join(folderInTest(), `rows.${format}`);
    const start = new Date(Date.now() - 4.9 * 86_400_000).toISOString();
    const end = new Date(Date.now() - 30_000).toISOString();
    const { code, stdout, stderr } = await runProgram([
      'export',
      account,
      '--from',
      url,
      '--start',
      start,
      '--end',
      end,
      '--format',
      format,
      '--out',
      file,
    ]);
    expect([code, stderr.filter((line) => line.includes('incomplete'))]).toEqual([0, []]);
    const parts = readers[format](file);
    expect(parts.length).toBeGreaterThan(5);
    // The parts together cover the requested interval, and each begins where the previous one ends.
    expect(parts.slice(1).map(({ manifest }) => manifest.interval.start)).toEqual(
      parts.slice(0, -1).map(({ manifest }) => manifest.interval.end),
    );
    expect([parts[0]?.manifest.interval.start, parts.at(-1)?.manifest.interval.end]).toEqual(
      [start, end].map((text) => text.replace('Z', '000Z')),
    );
    const wanted = rows.filter(({ observed_at }) => observed_at >= start);
    expect(parts.flatMap((part) => part.rows)).toEqual(wanted);
    expect(Math.max(...parts.map(({ count }) => count))).toBeLessThanOrEqual(60);
    expect(stdout[0]).toBe(`${file}: ${wanted.length} rows in ${parts.length} parts, verified`);
  });

  it('reports the same start and warm-up for several parts as for one export', async () => {
    const { url: store, rows } = await filledStore(400);
    const reported = [];
    for (const args of [[], ['--max-export-rows', '60']]) {
      const { url } = await startAccount(store, args);
      const file = join(folderInTest(), 'rows.json');
      // The interval begins before the store and ends in the future.
      const [start, end] = [-20, 1].map((days) => new Date(Date.now() + days * 86_400_000).toISOString());
      const interval = ['--start', String(start), '--end', String(end)];
      const { code, stdout } = await runProgram(['export', account, '--from', url, ...interval, '--out', file]);
      const manifests = readJson(file).map(({ manifest }) => manifest);
      expect([code, readJson(file).flatMap((part) => part.rows)]).toEqual([0, rows]);
      expect(stdout[1]).toContain(', shorter than requested');
      expect(manifests.slice(1).every(({ coverage }) => coverage.warmup === null)).toBe(true);
      reported.push({ began: manifests[0]?.interval.start, until: manifests[0]?.coverage.warmup?.end });
    }
    const [whole, parts] = reported;
    expect(whole?.until).toBe(whole?.began);
    expect(parts).toEqual(whole);
  });

  it('applies the filters of the command line', async () => {
    const { url, rows } = await serving(400);
    const file = join(folderInTest(), 'rows.ndjson');
    const flags = [
      '--labeler',
      labeler,
      '--value',
      'a,"b"',
      '--action',
      'application_observed',
      '--target-kind',
      'post',
    ];
    const { code } = await runProgram([
      'export',
      account,
      '--from',
      url,
      '--days',
      '7',
      ...flags,
      '--format',
      'ndjson',
      '--out',
      file,
    ]);
    expect(code).toBe(0);
    const wanted = rows.filter(
      ({ labeler_did, value, action, uri }) =>
        labeler_did === labeler &&
        value === 'a,"b"' &&
        action === 'application_observed' &&
        uri.includes('/app.bsky.feed.post/'),
    );
    expect(wanted.length).toBeGreaterThan(3);
    expect(readNdjson(file).map((part) => part.rows)).toEqual([wanted]);
  });

  it('writes a JSON document with the same members as a download', async () => {
    const { url } = await serving(400);
    const folder = folderInTest();
    const file = join(folder, 'rows.json');
    expect((await runProgram(['export', account, '--from', url, '--out', file])).code).toBe(0);
    expect(Object.keys(JSON.parse(readFileSync(file, 'utf8')) as object)).toEqual([
      'manifest',
      'rows',
      'count',
      'content_sha256',
    ]);
  });

  it('does not buffer rows, so a heap that is too small for all rows is sufficient', async () => {
    const { url: store, rows } = await filledStore(50_000);
    const { url } = await startAccount(store, ['--page-rows', '500']);
    const file = join(folderInTest(), 'rows.json');
    // The heap is large enough for the program, but not for all rows.
    const options = { env: { NODE_OPTIONS: '--max-old-space-size=24' } };
    const { code } = await runProgram(['export', account, '--from', url, '--days', '7', '--out', file], options);
    expect([code, readJson(file)[0]?.count]).toEqual([0, rows.length]);
  });

  it('states that an account without observations may still have labels', async () => {
    const { url } = await serving(400);
    const file = join(folderInTest(), 'rows.csv');
    const unlabelled = 'did:plc:zzzzzzzzzzzzzzzzzzzzzzzz';
    const { code, stdout } = await runProgram(['export', unlabelled, '--from', url, '--format', 'csv', '--out', file]);
    expect([code, stdout.at(-1)]).toEqual([0, 'No labels were observed. This does not mean that no labels exist.']);
    expect(readCsv(file).map((part) => [part.count, part.rows])).toEqual([[0, []]]);
  });

  it('replaces an existing file of the same name', async () => {
    const { url, rows } = await serving(400);
    const file = join(folderInTest(), 'rows.json');
    for (const _time of [1, 2]) {
      expect((await runProgram(['export', account, '--from', url, '--out', file])).code).toBe(0);
      expect(readJson(file)[0]?.rows).toEqual(rows);
    }
  });
});
