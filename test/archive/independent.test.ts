import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { alterations } from '../../harness/archive/altered/alterations.ts';
import { type IntactArchive, intactArchive, verifiedAt } from '../../harness/archive/altered/archives.ts';
import { type Content, copyOf, flip, signDays } from '../../harness/archive/forge.ts';
import { memoryReader } from '../../harness/archive/memory-files.ts';
import { simulatedKey } from '../../harness/archive/simulated-archive.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { type VerifyOptions, verifyArchive } from '../../src/archive/verify/verify.ts';

const script = new URL('../../harness/archive/independent_verifier.py', import.meta.url).pathname;
const isMissing = !(process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'python3')));

/** Runs the verifier that uses only Python's standard library. Returns one line for each archive. */
function verifyWithPython(contents: readonly Content[], ...options: string[]): Promise<string[]> {
  const folder = folderInTest();
  const roots = contents.map((content, at) => {
    const root = join(folder, String(at));
    mkdirSync(root);
    for (const [path, bytes] of content) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), bytes);
    }
    return root;
  });
  return new Promise((resolve) => {
    execFile('python3', [script, ...options, ...roots], (_error, stdout, stderr) => {
      resolve(stdout === '' ? [stderr] : stdout.trimEnd().split('\n'));
    });
  });
}

/** Returns the kinds of findings that Almanac's own verification reports, or `intact` if there are none. */
async function kindsHere(content: Content, options: Partial<VerifyOptions>): Promise<string[]> {
  const wait = (): Promise<void> => Promise.resolve();
  const reader = memoryReader(content);
  const { findings } = await verifyArchive({ reader, key: null, kept: null, now: verifiedAt, wait, ...options });
  return findings.length === 0 ? ['intact'] : findings.map(({ kind }) => kind);
}

function flipped(content: Content, path: string, at: number): Content {
  const altered = copyOf(content);
  flip(altered, path, at);
  return altered;
}

let archives: IntactArchive;

beforeAll(async () => {
  archives = await intactArchive();
});

// In CI, a missing tool is an error, not a reason to skip.
describe.skipIf(isMissing && process.env.CI === undefined)('a verifier written from the specifications', () => {
  it.each([
    ['at first contact', () => ({}), () => []],
    ['with a key', () => ({ key: simulatedKey.verifier }), () => ['--key', simulatedKey.verifier.text]],
    ['with a kept checkpoint', () => ({ kept: archives.kept }), () => ['--checkpoint', keptFile()]],
  ])(
    'agrees with almanac archive verify on an intact archive and on every alteration (%s)',
    async (_mode, here, there) => {
      const altered = alterations.map(({ alter }) => {
        const content = copyOf(archives.intact);
        alter(content, archives);
        return content;
      });
      const [intact, ...lines] = await verifyWithPython([archives.intact, ...altered], ...there());
      expect(intact).toBe('intact: 4 days');
      expect(lines).toHaveLength(alterations.length);
      const disagreements: unknown[] = [];
      for (const [at, { name, isOutside = false }] of alterations.entries()) {
        const kind = lines[at]?.split(':')[0] ?? '';
        const own = await kindsHere(altered[at] ?? new Map<string, Buffer>(), here());
        // Both verifiers must report this problem. This program's verification may report further problems.
        const agrees = isOutside ? kind === 'intact' : own.includes(kind);
        if (!agrees) disagreements.push({ name, own, other: lines[at] });
      }
      expect(disagreements).toEqual([]);
      expect(alterations.filter(({ isOutside = false }) => !isOutside).length).toBeGreaterThanOrEqual(40);
    },
  );

  it('reports whether a malformed key is in the option, the kept checkpoint or the index', async () => {
    const { intact, kept } = archives;
    for (const key of ['', 'almanac', 'a+b+', `${simulatedKey.verifier.text}x`]) {
      const [message] = await verifyWithPython([intact], '--key', key);
      expect(message).toContain('error: the key of --key is malformed');
    }
    const path = keptFile();
    writeFileSync(path, JSON.stringify({ ...kept, key: 'almanac' }));
    const inKept = 'malformed: the key in the kept checkpoint is malformed';
    expect(await verifyWithPython([intact], '--checkpoint', path)).toEqual([inKept]);
    const altered = copyOf(intact);
    altered.set('index.json', Buffer.from(JSON.stringify({ key: 'almanac' })));
    expect(await verifyWithPython([altered])).toEqual(['malformed: the key in the index is malformed']);
  });

  it('agrees with almanac archive verify on the tiles of a log of 600 days, which have two levels', async () => {
    const days = Array.from({ length: 600 }, (_, index) => ({
      day: new Date(Date.UTC(2000, 0, 1 + index)).toISOString().slice(0, 10),
      sha256: '0'.repeat(64),
    }));
    const content: Content = new Map();
    signDays(content, days, simulatedKey);
    expect([...content.keys()].filter((path) => path.startsWith('log/')).sort()).toEqual([
      'log/checkpoint',
      'log/tile/0/000',
      'log/tile/0/001',
      'log/tile/0/002.p/88',
      'log/tile/1/000.p/2',
      'log/tile/entries/000',
      'log/tile/entries/001',
      'log/tile/entries/002.p/88',
      'log/vkey',
    ]);
    // The log is intact, but the records of its days do not exist.
    const kinds = await kindsHere(content, {});
    expect([...new Set(kinds)]).toEqual(['missing']);
    expect(kinds).toHaveLength(600);
    expect(await verifyWithPython([content])).toEqual(['missing: day.json']);
    const damaged = ['log/tile/1/000.p/2', 'log/tile/0/001'].map((path) => flipped(content, path, 1));
    const difference = 'log: a tile does not match the entries';
    expect(await verifyWithPython(damaged)).toEqual([difference, difference]);
  });
});

/** Returns the path of a file with a checkpoint, as `almanac archive verify --checkpoint` writes it. */
function keptFile(): string {
  const folder = folderInTest();
  writeFileSync(join(folder, 'kept.json'), JSON.stringify(archives.kept));
  return join(folder, 'kept.json');
}
