import { createHash } from 'node:crypto';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readSecrets } from '../../src/account/cursor/cursor.ts';
import { decodeArtifact, type Reading } from '../../src/artifact/reading.ts';
import { recogniseLabels, recogniseWeather } from '../../src/artifact/recognise.ts';
import { writeArtifact } from '../../src/artifact/write.ts';
import { writeHeartbeat } from '../../src/labels/assembly/heartbeat.ts';
import { changeDenyFile, formatDenyList, readDenyFile } from '../../src/labels/operator/deny-file.ts';
import { readHold, setHold } from '../../src/labels/operator/hold.ts';
import { OperatorError } from '../../src/ops/errors.ts';
import { openSqliteWriter, type SqliteWriter } from '../../src/store/sqlite/write/writer.ts';
import { day, hour, micros } from '../../src/store/time.ts';
import { storeFile } from '../../src/weather/window/window-store.ts';
import { labelers, noon, numberedBatch } from '../conformance/labels.ts';
import { commitWindows, windowsIn } from '../faults/file-operations.ts';
import { generationId } from '../faults/store-state.ts';
import { rosterRow } from '../store/roster-row.ts';
import { type DamageKind, damage, type Random } from './damage.ts';
import { type Judged, judgeStore, type StoreTruth, storeTruth } from './judge-store.ts';

const [mod = ''] = labelers;
const gapAt = micros(noon + 5 * day + hour);

async function append(writer: SqliteWriter, n: number, at: number, rows: number): Promise<void> {
  await writer.append(numberedBatch(n, at, rows));
  await writeHeartbeat(writer, () => micros(at));
}

/** Durable changes that fill the store, in order. */
const changes: readonly ((writer: SqliteWriter) => Promise<unknown>)[] = [
  () => Promise.resolve(),
  (writer) =>
    writer.putRoster(
      labelers.map((did) =>
        rosterRow(did, { provenance: ['seeds'], endpoint: 'https://e.example', stateSince: noon, lastAnswered: noon }),
      ),
    ),
  (writer) => append(writer, 0, noon, 400),
  (writer) => writer.putNote('test', 'a note'),
  (writer) => writer.recordGap({ source: mod, reason: 'source_unavailable', start: noon, end: micros(noon + hour) }),
  (writer) => append(writer, 1, noon + 4 * day, 300),
  (writer) => append(writer, 2, noon + 4 * day + hour, 60),
  (writer) => writer.maintain(micros(noon + 4 * day + hour)),
  (writer) => append(writer, 3, noon + 5 * day, 100),
  (writer) => writer.recordGap({ source: null, reason: 'ingest_paused', start: gapAt, end: micros(gapAt + hour) }),
  (writer) => append(writer, 4, noon + 5 * day + 2 * hour, 40),
];

/**
 * Creates a store in `folder`/live, and a copy after each change in `folder`/0, /1 and so on. With `closes`, the store
 * is closed before each copy, so that no log remains. Otherwise each copy has the state that a power loss would leave.
 * Returns the number of copies.
 */
async function makeStores(folder: string, closes: boolean): Promise<number> {
  const live = join(folder, 'live');
  let writer = openSqliteWriter({ folder: live, at: noon, generationId });
  for (const [n, change] of changes.entries()) {
    await change(writer);
    if (closes) await writer.close();
    cpSync(live, join(folder, String(n)), { recursive: true });
    if (closes) writer = openSqliteWriter({ folder: live, at: noon, generationId });
  }
  await writer.close();
  return changes.length;
}

/** A store to damage. Each case damages one file in a copy of the same initial state. */
export class StoreWorld {
  readonly #folder: string;
  readonly #count: number;
  readonly #truths: readonly StoreTruth[];
  /** All files except log indexes, which SQLite rebuilds. */
  readonly files: readonly string[];

  private constructor(folder: string, count: number, truths: readonly StoreTruth[]) {
    this.#folder = folder;
    this.#count = count;
    this.#truths = truths;
    const names = readdirSync(this.#version(count - 1), { recursive: true, encoding: 'utf8' });
    this.files = names.filter((name) => name !== 'days' && !name.endsWith('-shm')).sort();
  }

  static async make(folder: string, closes: boolean): Promise<StoreWorld> {
    const count = await makeStores(folder, closes);
    const truths: StoreTruth[] = [];
    for (let n = 0; n < count; n++) {
      const copy = join(folder, 'truth');
      rmSync(copy, { recursive: true, force: true });
      cpSync(join(folder, String(n)), copy, { recursive: true });
      truths.push(await storeTruth(copy));
    }
    return new StoreWorld(folder, count, truths);
  }

  /** Damages one file of a copy and judges the effect on the store. */
  async damaged(file: string, kind: DamageKind, random: Random): Promise<Judged & { readonly how: string }> {
    const place = join(this.#folder, 'place');
    rmSync(place, { recursive: true, force: true });
    cpSync(this.#version(this.#count - 1), place, { recursive: true });
    const earlier = join(this.#version(Math.floor(random() * (this.#count - 1))), file);
    const how = damage(join(place, file), kind, random, existsSync(earlier) ? readFileSync(earlier) : Buffer.alloc(0));
    const truth = this.#truths.at(-1);
    if (!truth) throw new Error('the undamaged store has no results');
    return { ...(await judgeStore(place, truth, this.#truths)), how };
  }

  #version(n: number): string {
    return join(this.#folder, String(n));
  }
}

const fixtures = join(import.meta.dirname, '../../test/fixtures');
const labels = 'labels-overview.json';
const weather = 'weather-summary.json';
const secret = 'secret';

const refused = (why: string): Judged => ({ verdict: 'refused', why });
const compared = (found: unknown, expected: unknown): Judged =>
  isDeepStrictEqual(found, expected)
    ? { verdict: 'unchanged', why: '' }
    : { verdict: 'silent', why: `different content: ${JSON.stringify(found)?.slice(0, 200) ?? ''}` };

/** Functions that judge each file outside the observation store. `truth` is the undamaged directory. */
const judges: Readonly<Record<string, (folder: string, truth: string) => Judged | Promise<Judged>>> = {
  [labels]: (folder, truth) => judgeArtifact(join(folder, labels), join(truth, labels)),
  [weather]: (folder, truth) => judgeArtifact(join(folder, weather), join(truth, weather)),
  // A damaged hold file must still hold the label facts, even if its reason is lost.
  'labels-hold.json': async (folder) => compared((await readHold(folder)) !== null, true),
  'labels-denied.json': async (folder, truth) => {
    const [found, expected] = [await readDenyFile(folder), await readDenyFile(truth)];
    if (found.kind !== 'list' || expected.kind !== 'list') return refused(found.kind);
    return compared(formatDenyList(found.list), formatDenyList(expected.list));
  },
  // A changed secret only makes clients start their exports again, so its value is not compared.
  [secret]: (folder) => operators(() => compared(readSecrets(join(folder, secret)).length, 1)),
  [storeFile]: (folder, truth) => operators(() => compared(windowsIn(folder), windowsIn(truth))),
  // Compare the file with the digest in its manifest, as a client of an export does.
  'rows.csv': (folder) =>
    digestOf(join(folder, 'rows.csv')) === manifestDigest(folder)
      ? { verdict: 'unchanged', why: '' }
      : refused('it does not match the digest in its manifest'),
};

function judgeArtifact(path: string, truth: string): Judged {
  const [found, expected, earlier] = [path, truth, truth.replace(/truth(?=\/[^/]*$)/, 'earlier')].map(readingOf);
  if (found?.kind !== 'readable' || expected?.kind !== 'readable') return refused(found?.kind ?? 'missing');
  // Accept the previous artifact: it states its own generation time, so it is not a wrong fact.
  if (earlier?.kind === 'readable' && isDeepStrictEqual(found.artifact, earlier.artifact)) {
    return { verdict: 'gap', why: 'the earlier artifact' };
  }
  return compared(found.artifact, expected.artifact);
}

function readingOf(path: string): Reading<unknown> {
  const bytes = readFileSync(path);
  return path.endsWith(labels) ? decodeArtifact(bytes, 0, recogniseLabels) : decodeArtifact(bytes, 0, recogniseWeather);
}

function operators(work: () => Judged): Judged {
  try {
    return work();
  } catch (error) {
    if (error instanceof OperatorError) return refused(error.message);
    return { verdict: 'silent', why: `an error other than an OperatorError: ${String(error)}` };
  }
}

function digestOf(path: string): string {
  return createHash('sha256').update(readFileSync(path)).digest('hex');
}

function manifestDigest(folder: string): string {
  return (JSON.parse(readFileSync(join(folder, 'rows.csv.manifest.json'), 'utf8')) as { file_sha256: string })
    .file_sha256;
}

async function make(folder: string, turn: number): Promise<void> {
  for (const [name, fixture] of [
    [labels, 'labels-recent-overview.json'],
    [weather, 'weather-summary-v1.json'],
  ] as const) {
    const content = JSON.parse(readFileSync(join(fixtures, fixture), 'utf8')) as Record<string, unknown>;
    await writeArtifact(join(folder, name), { ...content, turn });
  }
  await setHold(folder, labels, { reason: `a test ${turn}`, since: '2026-11-20T12:00:00Z' });
  const entry = { reason: `${turn}`, since: '2026-11-20T12:00:00Z', purge: null };
  await changeDenyFile(folder, (list) =>
    list.with({ ...entry, target: { kind: 'domain', domain: `n${turn}.example` } }),
  );
  readSecrets(join(folder, secret));
  const csv = `labeler,uri\n${`did:web:mod.example,at://did:web:a.example/${turn}\n`.repeat(100)}`;
  writeFileSync(join(folder, 'rows.csv'), csv);
  await writeArtifact(join(folder, 'rows.csv.manifest.json'), { file_sha256: digestOf(join(folder, 'rows.csv')) });
  commitWindows(folder, 30 * turn);
}

/**
 * A directory of files outside the observation store. Each case damages one file in a copy of the same initial state.
 */
export class FileWorld {
  readonly files = Object.keys(judges);
  readonly #folder: string;

  private constructor(folder: string) {
    this.#folder = folder;
  }

  static async make(folder: string): Promise<FileWorld> {
    const now = join(folder, 'now');
    mkdirSync(now, { recursive: true });
    await make(now, 1);
    cpSync(now, join(folder, 'earlier'), { recursive: true });
    await make(now, 2);
    cpSync(now, join(folder, 'truth'), { recursive: true });
    return new FileWorld(folder);
  }

  /** Damages one file of a copy and judges the result of reading it. */
  async damaged(file: string, kind: DamageKind, random: Random): Promise<Judged & { readonly how: string }> {
    const [place, truth, earlier] = ['place', 'truth', 'earlier'].map((name) => join(this.#folder, name));
    if (!place || !truth || !earlier) throw new Error('the directory of the case does not exist');
    rmSync(place, { recursive: true, force: true });
    cpSync(join(this.#folder, 'now'), place, { recursive: true });
    const how = damage(join(place, file), kind, random, readFileSync(join(earlier, file)));
    const judge = judges[file];
    if (!judge) throw new Error(`no function judges ${file}`);
    return { ...(await judge(place, truth)), how };
  }
}
