import { isDeepStrictEqual } from 'node:util';
import type { Sim } from '../../sim/index.ts';
import {
  accountOf,
  type EmittedLabel,
  type Expected,
  fieldsOf,
  labelKey,
  refusals as refusalWords,
  verdict,
} from '../../sim/labelers/truth.ts';
import type { SignatureVerdict } from '../../src/contract/vocabulary.ts';
import { sourceStates } from '../../src/labels/state/reading-state.ts';
import type { Observation, StoredGap, StoreReader } from '../../src/store/port.ts';
import { type Interval, second } from '../../src/store/time.ts';
import type { LabelStation } from '../labels/label-station.ts';
import { until } from '../process/until.ts';
import { scanAccount } from '../store/scan.ts';
import { expectedSources, type Moment, roleAt, stateOf } from './cast.ts';
import { ownSignature } from './labelers/rows.ts';

/** Input of a comparison: the network's record, and the store that the instrument filled. */
export interface Compared {
  readonly sim: Sim;
  readonly store: StoreReader;
  /** Interval that covers the whole epoch. */
  readonly span: Interval;
  /** Returns the actual acceptance time of a label, or the expected time if the label was not accepted. */
  readonly acceptedUs: (label: EmittedLabel) => number;
}

/** Returns the numbers of labels that must be stored and refused, among the labels that were served. */
export function served({ sim, span, acceptedUs }: Compared): Expected {
  return sim.labelers.truth.expected({ epochUs: span.start, which: 'served', acceptedUs });
}

/**
 * Returns a function that checks whether the store has the expected number of rows for each labeler and action. It
 * computes the expected numbers again only after more labels have been served.
 */
export function actionsCheck(compared: Compared): () => Promise<boolean> {
  const { sim, store, span } = compared;
  const servedLabels = (): number =>
    sim.labelers.list.flatMap(({ served: { list } }) => list).reduce((sum, { from, to }) => sum + to - from, 0);
  let expected: { readonly labels: number; readonly byAction: Expected['byAction'] } | null = null;
  return async () => {
    const rows = await store.countsByLabeler(span);
    const stored = new Map(rows.map(({ labeler, applied, removed }) => [labeler, { applied, removed }]));
    const labels = servedLabels();
    if (labels !== expected?.labels) expected = { labels, byAction: served(compared).byAction };
    return isDeepStrictEqual(stored, expected.byAction);
  };
}

/** Returns all differences between the store and the network's record. */
export async function differences(compared: Compared): Promise<string[]> {
  const { store, span } = compared;
  const expected = served(compared);
  const problems: string[] = [];
  const differ = (what: string, wanted: unknown, got: unknown): void => {
    if (!isDeepStrictEqual(wanted, got))
      problems.push(`${what}: expected ${JSON.stringify(wanted)}, but ${JSON.stringify(got)} is stored`);
  };
  const counts = new Map((await store.countsByLabeler(span)).map(({ labeler, ...actions }) => [labeler, actions]));
  for (const labeler of new Set([...expected.byAction.keys(), ...counts.keys()])) {
    differ(`rows of ${labeler}`, expected.byAction.get(labeler), counts.get(labeler));
  }
  const rows = new Map<string, Observation[]>();
  const accounts = new Set([...compared.sim.labelers.truth.emitted()].flatMap(({ label }) => account(label) ?? []));
  let total = 0;
  for (const one of accounts) {
    let found = 0;
    for await (const chunk of scanAccount(store, { account: one, ...span, order: 'oldest' }, 1e6)) {
      found += chunk.length;
      for (const row of chunk) rows.set(row.label.src, [...(rows.get(row.label.src) ?? []), row]);
    }
    total += found;
    differ(`rows about ${one}`, expected.byAccount.get(one) ?? 0, found);
  }
  differ('all rows', expected.accepted, total);
  const refused = await store.refusals(span);
  for (const labeler of compared.sim.labelers.list) problems.push(...refusedOf(compared, labeler.did, refused));
  for (const labeler of compared.sim.labelers.list)
    problems.push(...labelsOf(compared, labeler.did, rows.get(labeler.did) ?? []));
  for await (const day of store.verify()) problems.push(...day.problems);
  return problems;
}

/**
 * Returns the differences between the stored and the expected refusals of a labeler. A row that was read both by
 * stream and by poll counts as one refusal. Duplicates are omitted: their number depends on the transports.
 */
function refusedOf(
  { sim, span, acceptedUs }: Compared,
  did: string,
  stored: readonly { readonly source: string; readonly reason: string; readonly count: number }[],
): string[] {
  const wanted: Record<string, number> = {};
  for (const label of sim.labelers.truth.emitted(0, Number.POSITIVE_INFINITY, did)) {
    if (!label.served) continue;
    const reason = verdict(label, span.start, acceptedUs(label));
    if (reason !== null) wanted[reason] = (wanted[reason] ?? 0) + 1;
  }
  return refusalWords.flatMap((word) => {
    if (word === 'duplicate') return [];
    const reason = word === 'foreign' ? 'foreign_src' : word;
    const count = stored.find((one) => one.source === did && one.reason === reason)?.count ?? 0;
    return count === (wanted[word] ?? 0)
      ? []
      : [`${reason} of ${did}: expected ${wanted[word] ?? 0}, counted ${count}`];
  });
}

/**
 * Returns the differences between the stored labels and the labels that were sent, including the verdicts on
 * signatures.
 */
function labelsOf(compared: Compared, did: string, rows: readonly Observation[]): string[] {
  const wanted = new Map<string, ReturnType<typeof signatureOf>>();
  for (const label of compared.sim.labelers.truth.emitted(0, Number.POSITIVE_INFINITY, did)) {
    if (!label.served || verdict(label, compared.span.start, compared.acceptedUs(label)) !== null) continue;
    if (!wanted.has(labelKey(label.label))) wanted.set(labelKey(label.label), signatureOf(compared, label));
  }
  const problems: string[] = [];
  for (const { label, signature } of rows) {
    const key = labelKey(label);
    const right = wanted.get(key);
    if (right === undefined) problems.push(`${did} never sent ${key}, or it is stored twice`);
    else if (!isRight(signature, right))
      problems.push(`the signature of ${key}: expected ${right}, but ${signature} is stored`);
    wanted.delete(key);
  }
  for (const key of wanted.keys()) problems.push(`${key} is not stored`);
  return problems;
}

/**
 * Returns the expected verdict on a label's signature. Returns `earlier` if the verdict depends on whether the label
 * was read before or after the key was replaced.
 */
function signatureOf({ sim }: Compared, label: EmittedLabel): SignatureVerdict | 'earlier' {
  const isEarlier = sim.labelers.of(label.labeler).isSignedWithEarlierKey(label.n);
  const verdict = ownSignature(label);
  return verdict === 'verified' && isEarlier ? 'earlier' : verdict;
}

function isRight(signature: SignatureVerdict, right: SignatureVerdict | 'earlier'): boolean {
  if (right === 'earlier') return signature === 'verified' || signature === 'verified_earlier_key';
  return signature === right;
}

/**
 * Returns a problem for each label that could have been accepted, was not accepted, and lies outside every gap of its
 * source.
 */
export function hiddenLosses(
  compared: Compared,
  gaps: readonly StoredGap[],
  readable: (did: string) => boolean,
): string[] {
  const { sim, span, acceptedUs } = compared;
  const lost: string[] = [];
  for (const label of sim.labelers.truth.emitted(span.start)) {
    const { labeler, emittedUs, served, n } = label;
    if (served || !readable(labeler) || verdict(label, span.start, acceptedUs(label)) !== null) continue;
    // Skip a label that was replaced between two reads: an account-replacing server no longer serves it.
    const { profile, log, edge } = sim.labelers.of(labeler);
    if (profile.software === 'ozone' && log.replaced(n, edge)) continue;
    // Allow a small difference: gaps use the instrument's clock, and a label arrives slightly after its creation.
    const within = ({ source, start, end }: StoredGap): boolean =>
      (source === null || source === labeler) && start - second <= emittedUs && emittedUs <= end;
    if (!gaps.some(within))
      lost.push(
        `label ${n} of ${labeler}, created ${emittedUs - span.start} us after the start of the epoch, is outside every gap`,
      );
  }
  return lost;
}

function account(label: unknown): string | null {
  const { uri } = fieldsOf(label);
  return typeof uri === 'string' && /^(at:\/\/)?did:/.test(uri) ? accountOf(uri) : null;
}

const named: ReadonlySet<string> = new Set(['enrolled', ...sourceStates]);

/**
 * Waits until the published number of sources in each state is the expected number for the moment. Then checks that the
 * numbers add up. Adds a problem for each remaining difference.
 */
export async function sourcesAre(sim: Sim, station: LabelStation, moment: Moment, problems: string[]): Promise<void> {
  let wanted = expectedSources(sim, moment);
  let got: Record<string, number> = {};
  const same = async (): Promise<boolean> => {
    const { coverage } = await station.overview();
    // Recompute the expectation: a stream without pages may have delivered its first label in the meantime.
    wanted = expectedSources(sim, moment);
    const counts: Readonly<Record<string, number | null | undefined>> = coverage.sources;
    got = Object.fromEntries(
      Object.entries(counts).flatMap(([name, count]) => (named.has(name) && count ? [[name, count]] : [])),
    );
    return isDeepStrictEqual({ ...wanted }, { ...got });
  };
  try {
    await until('all sources have the required states', same, 90_000);
  } catch {
    problems.push(
      `sources ${moment}: ${JSON.stringify(wanted)} expected, ${JSON.stringify(got)} counted; ${await others(sim, station, moment)}`,
    );
  }
  const { sources } = (await station.overview()).coverage;
  const { enrolled, seeded, discovered } = sources;
  const sum = sourceStates.reduce((all, state) => all + (sources[state] ?? 0), 0);
  if (sum !== enrolled || (seeded ?? 0) + (discovered ?? 0) !== enrolled)
    problems.push(`sources ${moment} do not add up to ${enrolled}`);
}

/** Published numbers of skipped labels, with the refusal that each of them counts. */
const skipped = {
  pre_epoch_skipped: 'pre_epoch',
  undated_skipped: 'undated',
  late_skipped: 'late',
  future_skipped: 'future',
} as const;

/**
 * Returns the numbers of skipped labels that differ from the refusals of the whole epoch, which is shorter than the
 * published window.
 */
export function skippedProblems(
  refused: Expected['refused'],
  sources: Readonly<Partial<Record<keyof typeof skipped, number | null>>>,
): string[] {
  return (Object.keys(skipped) as (keyof typeof skipped)[]).flatMap((name) => {
    const [wanted, got] = [refused[skipped[name]], sources[name]];
    return got === wanted ? [] : [`${name} is ${got}, expected ${wanted}`];
  });
}

/**
 * Waits until the published numbers of skipped labels agree with the record. Otherwise returns the differences that
 * remain, and the error that ended the wait.
 */
export async function skippedMatch(
  refused: Expected['refused'],
  station: Pick<LabelStation, 'overview'>,
): Promise<string[]> {
  let problems: string[] = [];
  const agrees = async (): Promise<boolean> => {
    problems = skippedProblems(refused, (await station.overview()).coverage.sources);
    return problems.length === 0;
  };
  try {
    await until('the published numbers of skipped labels agree with the record', agrees);
    return [];
  } catch (error) {
    return [...problems, String(error)];
  }
}

/** Describes the sources that are not in the required state. */
async function others(sim: Sim, { store }: LabelStation, moment: Moment): Promise<string> {
  const { list } = sim.labelers;
  const rows = new Map((await store.roster()).map((row) => [row.did, row]));
  return list
    .map((labeler) => {
      const role = roleAt(labeler.profile.index, list.length);
      const row = rows.get(labeler.did);
      const [wanted, got] = [stateOf(labeler, role, moment), row?.enrolled ? row.state : null];
      return wanted === got
        ? ''
        : `${labeler.did} (${role?.name ?? labeler.profile.ailment}): expected ${wanted}, got ${got}`;
    })
    .filter((text) => text !== '')
    .join('; ');
}
