import { renderToString } from 'preact-render-to-string';
import { AccountBody } from '../../src/account/page/account.tsx';
import type { PageFrame } from '../../src/account/page/links.ts';
import { textsOf } from '../../src/account/texts/texts.ts';
import type { Definition } from '../../src/account/view/definitions.ts';
import { readParts } from '../../src/account/view/rows.ts';
import { type AccountView, timelineOf } from '../../src/account/view/view.ts';
import { type DayCounts, GroupSums, type LabelerGroup } from '../../src/store/counts.ts';
import { type ReceivedLabel, targetOf } from '../../src/store/label.ts';
import type { Observation, StoredGap } from '../../src/store/port.ts';
import type { Removals } from '../../src/store/removals.ts';
import { day, dayOf, hour, micros } from '../../src/store/time.ts';
import type { Language } from '../../src/web/language.ts';

/** Creates account views for rendering tests. Only the store is simulated. */

/** Time of the views: 2026-11-20 12:00:00 UTC. */
export const now = micros(1_795_176_000_000_000);
/** DID of the account in all views. */
export const account = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
/** State of a store from which no rows were removed. */
export const noRemovals: Removals = { purged: null, pending: null, spaces: null };
/** DIDs of the labelers that labeled the account. */
export const labelers = ['did:plc:ar7c4by46qjdydhdevvrndac', 'did:web:labels.example.com'] as const;

/** Options for a view. */
interface ViewOptions {
  readonly labels?: readonly Partial<ReceivedLabel>[];
  readonly definitions?: readonly (readonly [value: string, definition: Definition])[];
  readonly ownGaps?: readonly StoredGap[];
  readonly change?: Partial<AccountView>;
}

/** Creates the view of an account with the given labels, one per hour before `now`, newest first. */
export async function viewOf({
  labels = [],
  definitions = [],
  ownGaps = [],
  change = {},
}: ViewOptions): Promise<AccountView> {
  const observations = labels.map(
    (label, i): Observation => ({
      observedAt: micros(now - (i + 1) * hour + 7),
      signature: 'verified',
      label: { src: labelers[0], uri: account, val: 'spam', cts: '2026-11-20T08:00:00Z', ...label },
    }),
  );
  const interval = { start: micros(now - 7 * day), end: now };
  const days = daysOf(interval, observations);
  const tally = { days, labelers: countsOf(observations), values: [], groups: groupsOf(observations) };
  const query = { account, asked: { kind: 'days', days: 7 } as const, filters: {} };
  const store = {
    readAccount: ({ filter }: { filter?: { target?: string } }) =>
      Promise.resolve({
        rows: observations.filter(({ label }) => targetOf(label.uri) === (filter?.target ?? targetOf(label.uri))),
        next: null,
      }),
  };
  const parts = await readParts(store as never, { account, filters: {}, before: null, ...interval }, tally);
  return {
    query,
    askedAt: now,
    now,
    shown: interval,
    interval: { ...interval, askedStart: interval.start, clipped: false },
    frontier: {
      generationId: 'g',
      floor: interval.start,
      end: now,
      observedThrough: micros(now - 1_000_000),
      revision: 0,
    },
    startedAt: micros(now - 40 * day),
    tally,
    rows: observations.length,
    timeline: timelineOf({ ...interval, available: interval, tally, whole: ownGaps, some: [] }),
    parts,
    before: null,
    definitions: new Map([[labelers[0], new Map(definitions)]]),
    labelers: tally.labelers.map((count) => ({
      ...count,
      reading: 'read',
      state: 'established',
      lastAsked: micros(now - 30_000_000),
      completeUntil: null,
      gaps: [],
    })),
    otherLabelers: 0,
    missed: { labelers: 0, longest: 0 },
    ownGaps,
    network: {
      byState: new Map([['established', labelers.length]]),
      notEnrolled: 0,
      names: new Map(),
      origins: new Map(),
      removed: noRemovals,
    },
    ...change,
  };
}

function daysOf({ start, end }: { start: number; end: number }, observations: readonly Observation[]) {
  const found: { start: typeof now; end: typeof now; counts: DayCounts }[] = [];
  for (let from = start; from < end; from = (Math.floor(from / day) + 1) * day) {
    const to = Math.min(end, (Math.floor(from / day) + 1) * day);
    const rows = observations.filter(({ observedAt }) => observedAt >= from && observedAt < to);
    const of = (target: string) => eventsOf(rows.filter(({ label }) => targetOf(label.uri) === target));
    found.push({
      start: micros(from),
      end: micros(to),
      counts: { rows: rows.length, account: of('account'), post: of('post'), record: of('record') },
    });
  }
  return found;
}

function countsOf(observations: readonly Observation[]) {
  return [...Map.groupBy(observations, ({ label }) => label.src)].map(([labeler, rows]) => ({
    labeler,
    ...eventsOf(rows),
  }));
}

function groupsOf(observations: readonly Observation[]): LabelerGroup[] {
  const sums = new GroupSums();
  for (const { label, observedAt } of observations) {
    const removed = label.neg === true ? 1 : 0;
    sums.add(label.src, label.val, dayOf(observedAt), { applied: 1 - removed, removed });
  }
  return sums.result();
}

function eventsOf(rows: readonly Observation[]) {
  const removed = rows.filter(({ label }) => label.neg === true).length;
  return { applied: rows.length - removed, removed };
}

/** Returns a page frame in the given language. */
export function frameIn(language: Language, selected: Language | null = null): PageFrame {
  return { base: '', handles: true, selected, t: textsOf(language) };
}

/** Renders the body of a view's page as HTML. */
export function bodyOf(view: AccountView, frame: PageFrame = frameIn('en')): string {
  const { start, end } = view.interval;
  const downloads = [{ start, end, rows: view.rows ?? 0, href: '/download?cursor=x' }];
  return renderToString(AccountBody({ view, frame, isLive: true, downloads }));
}

/** Returns the text of an HTML body, one line per element. Attribute values must not contain angle brackets. */
export function linesOf(html: string): string[] {
  return html
    .replace(/<[^>]+>/g, '\n')
    .replaceAll('&lt;', '<')
    .replaceAll('&quot;', '"')
    .replaceAll('&amp;', '&')
    .replaceAll('\u00a0', ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}
