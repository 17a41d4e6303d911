import { createHash } from 'node:crypto';
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { readSecrets } from '../../src/account/cursor/secret.ts';
import { decodeArtifact, type Reading } from '../../src/artifact/reading.ts';
import { recogniseLabels, recogniseWeather } from '../../src/artifact/recognise.ts';
import { writeArtifact } from '../../src/artifact/write.ts';
import { changeDenyFile, formatDenyList, readDenyFile } from '../../src/labels/operator/deny-file.ts';
import { readHold, setHold } from '../../src/labels/operator/hold.ts';
import { OperatorError } from '../../src/ops/errors.ts';
import { metricNames } from '../../src/weather/classify/metric-names.ts';
import { emptyDelta, windowUs } from '../../src/weather/window/window.ts';
import { openWindowStore, storeFile } from '../../src/weather/window/window-store.ts';
import { type DamageKind, damage, type Random } from './damage.ts';
import type { Judged } from './judge-store.ts';

const fixtures = join(import.meta.dirname, '../../test/fixtures');
const labels = 'labels-overview.json';
const weather = 'weather-summary.json';
const secret = 'secret';
const host = 'wss://host.example/subscribe';

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
  [storeFile]: (folder, truth) => operators(() => compared(windows(folder), windows(truth))),
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

function windows(folder: string): unknown {
  const store = openWindowStore(folder);
  try {
    const series = store.series(host);
    const all = { from: 0, to: Number.MAX_SAFE_INTEGER };
    return [series, store.windows(series.id, all, metricNames), store.observed(series.id, all)];
  } finally {
    store.close();
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
  const store = openWindowStore(folder);
  const { id, revision } = store.series(host);
  for (let n = 0; n < 30; n++) {
    const delta = emptyDelta((29_000_000 + revision + n) * windowUs);
    delta.events = n + 1;
    const at = delta.start + 1;
    const live = { kind: 'time', value: at, counted: 2, timeUs: at } as const;
    const gains = [{ windows: [delta], observed: [{ from: delta.start, to: at }] }];
    store.commit({ series: id, after: revision + n, gains, live, backfill: null });
  }
  store.close();
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
