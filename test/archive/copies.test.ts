import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { memoryArchive } from '../../harness/archive/memory-files.ts';
import { type SimulatedArchive, simulateArchive, simulatedKey } from '../../harness/archive/simulated-archive.ts';
import { artifactFolderInTest, youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { openArchiveFiles } from '../../src/archive/files/archive-files.ts';
import { keptInFile } from '../../src/archive/log/day-log.ts';
import { directoryReader } from '../../src/archive/verify/archive-reader.ts';
import type { KeptCheckpoint } from '../../src/archive/verify/verify.ts';
import { artifactNames } from '../../src/artifact/write.ts';

/** Tests that an archiver can continue on a copied directory, and never silently publishes a fork of the log. */

const pause =
  'a day became due for closing while the archive was not being written: if this is an older copy, stop it and restore the newest one, because its log would contradict the published log';

/** A state of an archive: its files, and the checkpoint stored with its key. */
interface State {
  readonly content: ReadonlyMap<string, Buffer>;
  readonly head: Buffer | null;
  readonly kept: KeptCheckpoint | null;
}

/** States after 60, 80, 90 and 121 hours. They have 0, 1, 1 and 3 closed days. */
let states: { readonly at60: State; readonly at80: State; readonly at90: State; readonly at120: State };

beforeAll(async () => {
  const archive = simulateArchive();
  const runUntil = async (from: number, to: number): Promise<State> => {
    await archive.run(to - from, from);
    const { keep } = await archive.verify();
    return { content: new Map(archive.content), head: archive.kept.read(), kept: keep };
  };
  const at60 = await runUntil(0, 60);
  states = { at60, at80: await runUntil(60, 80), at90: await runUntil(80, 90), at120: await runUntil(90, 121) };
});

/** Writes a state to a directory, together with the checkpoint of that state or of another state. */
function directoryOf({ content }: State, { head }: State): string {
  const folder = folderInTest();
  for (const [path, bytes] of content) {
    mkdirSync(join(folder, 'archive', dirname(path)), { recursive: true });
    writeFileSync(join(folder, 'archive', path), bytes);
  }
  if (head) writeFileSync(join(folder, 'archive.key.checkpoint'), head, { mode: 0o600 });
  return folder;
}

/** Starts an archiver on a directory. */
function archiverOf(folder: string): SimulatedArchive {
  const root = join(folder, 'archive');
  const files = openArchiveFiles(root);
  const kept = keptInFile(join(folder, 'archive.key.checkpoint'));
  return simulateArchive({ memory: { ...memoryArchive(), files, kept, reader: directoryReader(root) } });
}

function bytesBelow(folder: string): Map<string, string> {
  const names = readdirSync(folder, { recursive: true, encoding: 'utf8' }).sort();
  const files = names.filter((name) => statSync(join(folder, name)).isFile());
  return new Map(files.map((name) => [name, readFileSync(join(folder, name), 'base64')]));
}

describe('an archiver on a copied directory', () => {
  it('continues a copy that was made while nothing was being written, without losing an hour or forking the published log', async () => {
    const { at80, at120 } = states;
    const folder = folderInTest();
    cpSync(directoryOf(at80, at80), folder, { recursive: true });
    const archive = archiverOf(folder);
    await archive.run(41, 80);
    expect(await archive.verify({ kept: at80.kept })).toMatchObject({ findings: [], closedDays: 3 });
    const found = bytesBelow(join(folder, 'archive'));
    const expected = new Map([...at120.content].map(([path, bytes]) => [path, bytes.toString('base64')]));
    expect([...found.keys()].sort()).toEqual([...expected.keys()].sort());
    for (const [path, bytes] of expected) expect([path, found.get(path) === bytes]).toEqual([path, true]);
    expect(archive.messages).toEqual([]);
  });

  it('continues an outdated copy that contains every closed day, and records a gap', async () => {
    const { at80, at90 } = states;
    const archive = archiverOf(directoryOf(at80, at90));
    await archive.run(31, 90);
    expect(await archive.verify({ kept: at90.kept })).toMatchObject({ findings: [], closedDays: 3 });
    const gaps = archive.files.read('days/2026-11-23/gaps.json')?.toString();
    expect(gaps).toContain('"end":"2026-11-23T18:00:00Z","fact":"instruments","reason":"not_archived"');
    expect(archive.messages).toEqual([]);
  });

  it('refuses a copy that is older than the last checkpoint of its key, and changes no file', async () => {
    const { at90, at120 } = states;
    const folder = directoryOf(at90, at120);
    const before = bytesBelow(folder);
    await expect(archiverOf(folder).run(1, 121)).rejects.toThrow(
      'the log of the archive lacks days that its key has signed (3 in total); restore a newer copy',
    );
    expect(bytesBelow(folder)).toEqual(before);
  });

  it('warns of a possible fork if both the copy and the checkpoint of its key are outdated, and a verifier reports the fork', async () => {
    const { at60, at120 } = states;
    const archive = archiverOf(directoryOf(at60, at60));
    await archive.run(26, 121);
    expect(archive.messages).toContainEqual({ message: pause, fields: { since: '2026-11-22T11:00:00Z' } });
    expect((await archive.verify()).findings).toEqual([]);
    const { findings } = await archive.verify({ kept: at120.kept });
    expect(findings.map(({ kind }) => kind)).toContain('fork');
  });

  it('refuses a copy that belongs to another key', async () => {
    const { at80 } = states;
    const archive = archiverOf(directoryOf(at80, at80));
    archive.restart({ ...simulatedKey, verifier: { ...simulatedKey.verifier, id: Buffer.alloc(4) } });
    await expect(archive.run(1, 80)).rejects.toThrow('was signed by another key');
  });
});

describe('almanac archive on a copy', () => {
  it('starts despite a copied lock file, and refuses a second archiver in the same directory', async () => {
    const artifacts = artifactFolderInTest();
    writeFileSync(join(artifacts, artifactNames.labels), JSON.stringify(youngArtifact('recent')));
    writeFileSync(join(artifacts, artifactNames.weather), JSON.stringify(youngArtifact('weather')));
    const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', artifacts]).listening();
    const [first, copy] = [folderInTest(), folderInTest()];
    const start = (folder: string) =>
      startProgramInTest(['archive', '--facts', url, '--archive', join(folder, 'archive')]);
    const original = start(first);
    await original.line(/^almanac archive writing to /);
    await until('the index exists', () => existsSync(join(first, 'archive/index.json')));
    expect(await original.stop()).toBe(0);
    cpSync(first, copy, { recursive: true });
    const key = readFileSync(join(first, 'archive.key'), 'utf8');
    await start(copy).line(/^almanac archive writing to /);
    const second = start(copy);
    expect(await second.ended()).toBe(1);
    expect(second.stderr.join()).toContain('another process is archiving there; stop it first');
    // The original directory is not locked, so an archiver can start there.
    await start(first).line(/^almanac archive writing to /);
    expect(readFileSync(join(copy, 'archive.key'), 'utf8')).toBe(key);
    expect(statSync(join(copy, 'archive.key')).mode & 0o777).toBe(0o600);
  });
});
