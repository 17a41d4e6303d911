import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { AccountRow } from '../../src/contract/account.ts';
import { startProgram } from '../process/program.ts';
import { until } from '../process/until.ts';
import { type DoneLabel, type Ledger, rowProblems } from './ledger.ts';
import type { Observatory } from './observatory.ts';

type Fields = Readonly<Record<string, unknown>>;

/** The facts of a labeler's document that are compared. */
interface LabelerFacts {
  readonly enrolled: boolean;
  readonly state: string;
  readonly found_by: readonly string[];
  readonly read_by: string | null;
  readonly events: { readonly window: number | null };
  readonly days: readonly { readonly applied: number | null; readonly removed: number | null }[];
  readonly signatures: Readonly<Record<string, number>> | null;
  readonly definitions: { readonly values: readonly { readonly value: string }[] } | null;
}

/** Expected facts of one labeler. */
interface ExpectedLabeler {
  readonly name: string;
  readonly did: string;
  readonly readBy: 'stream' | 'pages';
  /** Values of the record that was last seen. */
  readonly values: readonly string[];
}

async function get<T = Fields>(url: string): Promise<T> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url} responded ${response.status}: ${await response.text()}`);
  return (await response.json()) as T;
}

/** Returns the facts of a labeler's document, or null if the labeler is unknown. */
export async function labelerFacts({ facts }: Observatory, did: string): Promise<LabelerFacts | null> {
  const response = await fetch(`${facts.url}/labelers/${did}.json`);
  return response.ok ? ((await response.json()) as { readonly facts: LabelerFacts }).facts : null;
}

/** Returns the difference between two values as a line, or nothing. */
export function difference(what: string, found: unknown, expected: unknown): string[] {
  const [left, right] = [JSON.stringify(found), JSON.stringify(expected)];
  return left === right ? [] : [`${what} is ${left}, not ${right}`];
}

/** Time within which everything that was done must be published, in milliseconds: a page is read every 30 s. */
const publishedMs = 100_000;

/** Repeats a comparison until it finds no difference, for at most the time within which everything is published. */
export async function settled(compare: () => Promise<string[]>): Promise<string[]> {
  let problems: string[] = [];
  const isEqual = async (): Promise<boolean> => {
    problems = await compare();
    return problems.length === 0;
  };
  await until('everything is published', isEqual, publishedMs).catch(() => undefined);
  return problems;
}

/** Compares the overview with the labels that were confirmed. */
export async function overviewProblems(
  { facts }: Observatory,
  { labels }: Ledger,
  enrolled: number,
): Promise<string[]> {
  const { facts: found } = await get<{ readonly facts: Fields }>(`${facts.url}/v1/labels/overview`);
  const counts = [...Map.groupBy(labels, ({ labeler }) => labeler)]
    .map(([labeler_did, own]) => ({ labeler_did, count: own.length }))
    .sort((a, b) => b.count - a.count || (a.labeler_did < b.labeler_did ? -1 : 1));
  const coverage = found.coverage as { readonly sources: Fields };
  const [all, active] = [labels.length, counts.length];
  return [
    ...difference('counts', found.counts, {
      ...{ events_24h: all, events_7d: all, events_window: all },
      ...{ labelers_active_7d: active, labelers_active_window: active },
    }),
    ...difference('labeler_count', found.labeler_count, active),
    ...difference('top_labelers_7d', sorted(found.top_labelers_7d), sorted(counts)),
    ...difference('sources.enrolled', coverage.sources.enrolled, enrolled),
    ...difference('sources.established', coverage.sources.established, enrolled),
  ];
}

function sorted(list: unknown): unknown {
  return Array.isArray(list) ? list.map((item) => JSON.stringify(item)).sort() : list;
}

/** Compares the documents of labelers with the labels that they confirmed, and with their records. */
export async function documentProblems(
  observatory: Observatory,
  { labels }: Ledger,
  labelers: readonly ExpectedLabeler[],
): Promise<string[]> {
  const all = await Promise.all(
    labelers.map(async ({ name, did, readBy, values }) => {
      const own = labels.filter(({ labeler }) => labeler === did);
      const removed = own.filter(({ neg }) => neg).length;
      const facts = await labelerFacts(observatory, did);
      const today = facts?.days.at(-1);
      const defined = facts?.definitions?.values.map(({ value }) => value) ?? null;
      return [
        ...difference(`${name}: enrolled`, facts?.enrolled, true),
        ...difference(`${name}: state`, facts?.state, 'established'),
        ...difference(`${name}: read_by`, facts?.read_by, readBy),
        ...difference(`${name}: events`, facts?.events.window, own.length),
        ...difference(`${name}: today`, [today?.applied, today?.removed], [own.length - removed, removed]),
        ...difference(`${name}: verified`, facts?.signatures?.verified, own.length),
        ...difference(`${name}: definitions`, sorted(defined), sorted(values)),
      ];
    }),
  );
  return all.flat();
}

/** Exports each account with the program, and compares the rows and the account's page with the confirmed labels. */
export async function accountProblems(
  { account }: Observatory,
  ledger: Ledger,
  home: string,
  accounts: readonly string[],
): Promise<string[]> {
  const problems: string[] = [];
  for (const did of accounts) {
    const expected = ledger.labelsOn(did);
    const file = join(home, `${did.slice(-8)}.json`);
    const program = startProgram(['export', did, '--from', account.url, '--out', file]);
    const code = await program.ended();
    if (code !== 0) {
      problems.push(`almanac export ended with ${code}: ${program.stderr.join(' ')}`);
      continue;
    }
    const { rows, count } = JSON.parse(readFileSync(file, 'utf8')) as {
      readonly rows: readonly AccountRow[];
      readonly count: number;
    };
    const unverified = rows.filter(({ signature }) => signature !== 'verified');
    problems.push(
      ...rowProblems(expected, rows),
      ...difference(`${did}: count`, count, expected.length),
      ...unverified.map((row) => `not verified: ${JSON.stringify(row)}`),
      ...pageProblems(await (await fetch(`${account.url}/account?did=${did}&lang=en`)).text(), did, expected),
    );
  }
  return problems;
}

/** Compares the observations on an account's page with the confirmed labels. */
function pageProblems(page: string, did: string, labels: readonly DoneLabel[]): string[] {
  const shown = page
    .split('<li class="row ')
    .slice(1)
    .map((item) => item.split('</li>')[0] ?? '');
  const named = labels.map(({ labeler, val, neg }) => ({ labeler, val, action: neg ? 'removed' : 'applied' }));
  const lacking = named.filter((label) => {
    const at = shown.findIndex(
      (item) => item.startsWith(label.action) && item.includes(label.labeler) && item.includes(label.val),
    );
    if (at >= 0) shown.splice(at, 1);
    return at < 0;
  });
  return [
    ...lacking.map((label) => `${did}: the page lacks ${JSON.stringify(label)}`),
    ...shown.map((item) => `${did}: the page shows ${item.slice(0, 200)}`),
  ];
}

/** Published counts of the weather, by collection. */
type WeatherTotals = ReadonlyMap<string, number>;

/**
 * Archives what is published now, and compares it: each archived response with the service's own, the hours of the
 * labels with the confirmed labels, and the hours of the weather with its totals. The archive must be intact.
 */
export async function archiveProblems(
  { facts, artifacts, archive }: Observatory,
  { labels }: Ledger,
  totals: WeatherTotals,
): Promise<string[]> {
  const program = startProgram(['archive', '--facts', facts.url, '--artifacts', artifacts, '--archive', archive]);
  const day = new Date().toISOString().slice(0, 10);
  const read = (name: string): string => readFileSync(join(archive, 'days', day, name), 'utf8');
  await until('the archive is written', () => {
    try {
      return JSON.parse(read('day.json')) !== null;
    } catch {
      return false;
    }
  });
  const code = await program.stop();
  const verified = await startProgram(['archive', 'verify', archive]).ended();
  const { body } = JSON.parse(read('labels-overview.jsonl').split('\n')[0] ?? '') as {
    readonly body: { readonly facts: { readonly counts: { readonly events_window: number } } };
  };
  const hours = JSON.parse(read('labels-hours.json')) as {
    readonly hours: readonly ({ readonly applications: number | null; readonly removals: number | null } | null)[];
  };
  const weather = JSON.parse(read('weather-hours.json')) as {
    readonly series: readonly {
      readonly published: boolean;
      readonly collections: Readonly<Record<string, { readonly events: readonly (number | null)[] }>>;
    }[];
  };
  const sum = (counts: readonly (number | null)[]): number => counts.reduce<number>((all, one) => all + (one ?? 0), 0);
  const removed = labels.filter(({ neg }) => neg).length;
  const series = weather.series.find(({ published }) => published);
  return [
    ...difference('exit code of the archiver', code, 0),
    ...difference('exit code of verify', verified, 0),
    ...difference('archived events_window', body.facts.counts.events_window, labels.length),
    ...difference(
      'archived applications',
      sum(hours.hours.map((hour) => hour?.applications ?? null)),
      labels.length - removed,
    ),
    ...difference('archived removals', sum(hours.hours.map((hour) => hour?.removals ?? null)), removed),
    ...[...totals].flatMap(([name, total]) =>
      difference(`archived ${name}`, sum(series?.collections[name]?.events ?? []), total),
    ),
  ];
}
