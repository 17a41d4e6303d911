import { join } from 'node:path';
import { onTestFinished } from 'vitest';
import { createSim } from '../../sim/index.ts';
import { declaration } from '../../sim/labelers/declarations.ts';
import type { Labeler } from '../../sim/labelers/labeler.ts';
import type { LabelFields } from '../../sim/labelers/odd-labels.ts';
import { micros } from '../../src/store/time.ts';
import { type LabelStation, startStation } from '../labels/label-station.ts';
import { temporaryFolder } from '../process/at-exit.ts';
import { folderInTest } from '../process/folder.ts';
import type { Later } from '../process/once-in-file.ts';
import type { Program } from '../process/program.ts';
import { until } from '../process/until.ts';
import { fill, startAccount, writerInTest } from './account.ts';
import { accounts, hostileTexts } from './account-history.ts';

/** Stores that the label instrument filled from simulated labelers over several weeks of a simulated clock. */
export interface ObservedAccounts {
  /** Store directory of an instrument that started 33 days ago. */
  readonly old: string;
  /** Store directory of an instrument that started recently. */
  readonly young: string;
  /** Labels on the ordinary account within the window, oldest first. */
  readonly plain: readonly LabelFields[];
  /** Stops both instruments and the network, and removes the directories. */
  stop(): Promise<void>;
}

const dayMs = 86_400_000;
/** Maximum number of labels that are emitted before the test waits until they are stored. */
const burst = 15_000;

const post = `at://${accounts.plain}/app.bsky.feed.post/3lb5xpd2ank2v`;
/** Labels on the ordinary account, each with its age in days, its labeler and its fields. */
const said: readonly (readonly [daysAgo: number, labeler: 0 | 1, label: LabelFields])[] = [
  [33, 0, { uri: accounts.plain, val: 'long-ago' }],
  [12, 0, { uri: accounts.plain, val: 'spam' }],
  [12, 1, { uri: accounts.plain, val: 'spam', exp: '2027-01-01T00:00:00Z' }],
  [1.2, 0, { uri: accounts.plain, val: 'spam', neg: true }],
  [1.2, 1, { uri: post, val: 'rude' }],
  [0, 0, { uri: post, val: 'rude' }],
  [0, 0, { uri: post, val: 'rude', neg: true }],
  [0, 1, { uri: `at://${accounts.plain}/app.bsky.graph.list/3lb5xpd2ank2v`, val: '!warn' }],
];

/** Label that is emitted last, when both instruments are running. */
const last: LabelFields = { uri: accounts.plain, val: 'spam' };

/** Emits all labels and lets the instruments observe them. `hotRows` is the number of labels on the hot account. */
export async function observeAccounts(hotRows: number): Promise<ObservedAccounts> {
  const { folder, remove } = temporaryFolder('observed');
  let ago = 33 * dayMs;
  const nowMs = (): number => Date.now() - ago;
  const clocks = { wall: () => micros(nowMs() * 1000), monotonic: () => performance.now() * 1000 - ago * 1000 };
  const sim = createSim({
    ...{ seed: 11, rate: 1, historyHours: 0, labelers: 3, labelRate: 0, population: 'plain', clock: nowMs },
    // Use k256, because checking its signatures takes half of the processor time that p256 takes.
    shapeLabeler: () => ({ curve: 'k256', software: 'skyware' }),
  });
  const { plc } = await sim.start();
  const { list, pds } = sim.labelers;
  const [first, second, mallory] = list;
  if (!first || !second || !mallory || plc === null) throw new Error('the network must have three labelers');
  for (const { did } of [first, second]) pds.records.set(did, declaration({ values: ['spam', 'rude'] }));
  pds.records.set(mallory.did, { policies: { labelValues: [], labelValueDefinitions: hostileTexts.map(definition) } });
  const settings = { seeds: list.map(({ did }) => did), plc };
  const running: LabelStation[] = [];
  const observe = async (name: string): Promise<LabelStation> => {
    const station = await startStation(settings, { folder: join(folder, name), ...clocks });
    running.push(station);
    await until(
      'all labelers are established',
      async () => (await station.overview()).coverage.sources.established === list.length,
    );
    await until('the definitions of the label values are stored', async () => {
      const definitions = await Promise.all(list.map(({ did }) => station.store.definitions(did)));
      return definitions.every((revisions) => revisions.length > 0);
    });
    return station;
  };
  const stop = async (): Promise<void> => {
    for (const station of running.splice(0)) await station.stop();
  };

  for (const daysAgo of [33, 12, 1.2, 0]) {
    await stop();
    ago = daysAgo * dayMs;
    await observe('old');
    const labels = said.filter(([days]) => days === daysAgo);
    // Emit the labels one at a time: labels that are stored together have no defined order between labelers.
    for (const [, labeler, label] of labels) await say(running, labeler === 0 ? first : second, [label]);
    if (daysAgo !== 0) continue;
    await say(running, mallory, hostileTexts.flatMap(hostileLabels));
    const saidAt = nowMs();
    for (let from = 0; from < hotRows; from += burst) {
      const length = Math.min(burst, hotRows - from);
      await say(
        running,
        from % (2 * burst) === 0 ? first : second,
        Array.from({ length }, (_, i) => hotLabel(from + i, saidAt)),
      );
    }
  }
  await observe('young');
  await say(running, first, [last]);
  return {
    old: join(folder, 'old', 'store'),
    young: join(folder, 'young', 'store'),
    plain: [...said.flatMap(([daysAgo, , label]) => (daysAgo < 30 ? [label] : [])), last],
    async stop() {
      await stop();
      await sim.stop();
      remove();
    },
  };
}

/** Emits labels from one labeler, and waits until every instrument has stored them. */
async function say(
  stations: readonly LabelStation[],
  { did, faults }: Labeler,
  labels: readonly LabelFields[],
): Promise<void> {
  const counts = await Promise.all(stations.map(({ store }) => rowsFromNow(store, did)));
  faults.say(labels);
  for (const count of counts) await until(`${labels.length} labels`, async () => (await count()) === labels.length);
}

/**
 * Returns a function that counts the rows of a labeler that are stored after this call. Each count reads only the
 * rows since the previous count, because the test polls while the rows are being stored.
 */
async function rowsFromNow(store: LabelStation['store'], did: string): Promise<() => Promise<number>> {
  let { end: start } = await store.frontier();
  let rows = 0;
  return async () => {
    const { end } = await store.frontier();
    if (end <= start) return rows;
    const counts = (await store.countsByLabeler({ start, end })).find(({ labeler }) => labeler === did);
    start = end;
    rows += (counts?.applied ?? 0) + (counts?.removed ?? 0);
    return rows;
  };
}

function definition(text: string, nth: number): object {
  return { identifier: `v${nth}`, locales: [{ lang: 'en', name: text, description: text }] };
}

/** Returns two labels: one with a harmful value, and one whose value has a harmful definition. */
function hostileLabels(text: string, nth: number): LabelFields[] {
  return [
    { uri: accounts.hostile, val: [...text].slice(0, 20).join('') },
    { uri: `at://${accounts.hostile}/app.bsky.feed.post/3lb5xpd2ank${nth + 2}`, val: `v${nth}` },
  ];
}

/**
 * Returns the n-th label on the hot account. One label in forty concerns the account itself, and one in forty a record
 * that is not a post. Some labels are negations. All labels differ.
 */
function hotLabel(nth: number, nowMs: number): LabelFields {
  const rkey = nth.toString(36);
  const cts = new Date(nowMs - nth).toISOString();
  const record = `at://${accounts.busy}/app.bsky.feed.${nth % 40 === 1 ? 'repost' : 'post'}/${rkey}`;
  return { uri: nth % 40 === 0 ? accounts.busy : record, val: `v${nth % 5}`, neg: nth % 41 === 0, cts };
}

/**
 * Creates a store with rows of two accounts and starts the account surface on this store. The surface runs until the
 * test has finished, or `later` ends it.
 */
export async function observed(count: number, args: readonly string[] = [], later: Later = onTestFinished) {
  const folder = folderInTest(later);
  const store = writerInTest(folder, (Date.now() - 60_000) * 1000, later);
  await fill(store, count, { at: (Date.now() - 30_000) * 1000 });
  await fill(store, 5, { at: (Date.now() - 30_000) * 1000, subject: 'did:plc:otherotherotherotherothe' });
  const program = startAccount(folder, args, {}, later);
  const { url, port } = await program.listening();
  return { folder, store, program, url, port };
}

/** Returns the metrics of a program, fetched from the port that the program logs. */
export async function metricsOf(program: Program): Promise<string> {
  const announcedPort = (): unknown => program.log().find(({ msg }) => msg === 'the metrics port is open')?.port;
  await until('the port of the metrics', () => announcedPort() !== undefined);
  return (await fetch(`http://127.0.0.1:${Number(announcedPort())}/metrics`)).text();
}
