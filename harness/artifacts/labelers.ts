import { renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fractions } from '../../sim/random.ts';
import type {
  DefinitionsHeader,
  LabelerDefinitionsLine,
  LabelerLine,
  LabelersHeader,
} from '../../src/artifact/labelers.ts';
import { artifactNames } from '../../src/artifact/write.ts';
import { formatTimestamp } from '../../src/contract/timestamp.ts';
import { fewerThanFive, gapReasons, labelerProblems, labelerStates } from '../../src/contract/vocabulary.ts';
import { youngArtifact } from './artifacts.ts';

/** Generates labelers artifacts, each with an overview that contains the same sums. */

/** Options for a generated labelers artifact. */
interface LabelerFixtureOptions {
  readonly count: number;
  readonly seed?: number;
  /** Generation time in milliseconds since 1970; defaults to the current time. */
  readonly generatedAt?: number;
  /** True to generate lines of the maximum length. */
  readonly longest?: boolean;
}

/** A generated artifact as objects that a test may change. */
export interface LabelerFixture {
  readonly overview: object;
  readonly header: LabelersHeader;
  readonly labelers: LabelerLine[];
  readonly definitionsHeader: DefinitionsHeader;
  readonly definitions: LabelerDefinitionsLine[];
}

const dayMs = 86_400_000;
const windowDays = 30;
const words = ['spam', 'rude', 'nsfw', 'intolerant', 'bot', 'satire', 'ai-content', 'spoiler', 'misleading', 'hobby'];

/** Returns the UTC days of the window that ends at `end` (milliseconds since 1970), oldest first. */
function daysOfWindow(end: number): string[] {
  const first = Math.floor((end - windowDays * dayMs) / dayMs);
  const last = Math.floor((end - 1) / dayMs);
  return Array.from({ length: last - first + 1 }, (_, at) => formatTimestamp((first + at) * dayMs).slice(0, 10));
}

/** Generates a labelers artifact and an overview with the same generation time. */
export function labelerFixture(options: LabelerFixtureOptions): LabelerFixture {
  const { count, seed = 1, generatedAt = Date.now(), longest = false } = options;
  const random = fractions(seed);
  const young = youngArtifact('recent', generatedAt) as Record<string, unknown>;
  const acquisition = young.acquisition as { generation_id: string; started_at: string };
  const at = formatTimestamp(generatedAt);
  const days = daysOfWindow(generatedAt);
  const dids = Array.from({ length: count }, () => didFrom(random)).sort();
  // Seed each line separately: the number of values that a line draws depends on the time of day.
  const labelers = dids.map((did, index) =>
    lineFrom({ did, index, random: fractions(seed * count + index), days, end: generatedAt, longest }),
  );
  const sum = (of: (line: LabelerLine) => number): number => labelers.reduce((all, line) => all + of(line), 0);
  const common = { generated_at: at, generation_id: acquisition.generation_id };
  const definitions = labelers
    .filter(({ values }) => values.length > 0)
    .map((line) => definitionsFrom(line, at, longest));
  return {
    overview: {
      ...young,
      counts: {
        events_24h: sum(({ events }) => events.day),
        events_7d: sum(({ events }) => events.week),
        events_window: sum(({ events }) => events.window),
        labelers_active_7d: labelers.filter(({ events }) => events.week > 0).length,
        labelers_active_window: labelers.filter(({ events }) => events.window > 0).length,
      },
      top_labelers_7d: labelers
        .map(({ did, events }) => ({ labeler_did: did, count: events.week }))
        .sort((a, b) => b.count - a.count)
        .slice(0, 10),
      labeler_count: labelers.filter(({ events }) => events.window > 0).length,
    },
    header: {
      schema: 'labels.labelers.v1',
      ...common,
      labelers: count,
      started_at: acquisition.started_at,
      window: { start: formatTimestamp(generatedAt - windowDays * dayMs), end: at },
      days,
      counted_since: formatTimestamp(generatedAt - 10 * dayMs),
      omitted: 0,
    },
    labelers,
    definitionsHeader: { schema: 'labels.labeler-definitions.v1', ...common, labelers: definitions.length },
    definitions,
  };
}

/** Formats the artifact's two files, labelers and definitions, as JSON lines. */
export function labelerFiles({ header, labelers, definitionsHeader, definitions }: LabelerFixture) {
  const lines = (all: readonly object[]): string => all.map((line) => `${JSON.stringify(line)}\n`).join('');
  return { labelers: lines([header, ...labelers]), definitions: lines([definitionsHeader, ...definitions]) };
}

interface LineContext {
  readonly did: string;
  readonly index: number;
  readonly random: () => number;
  readonly days: readonly string[];
  readonly end: number;
  readonly longest: boolean;
}

function didFrom(random: () => number): string {
  const letters = 'abcdefghijklmnopqrstuvwxyz234567';
  return `did:plc:${Array.from({ length: 24 }, () => letters[Math.floor(random() * 32)]).join('')}`;
}

function lineFrom({ did, index, random, days, end, longest }: LineContext): LabelerLine {
  const pick = <T>(from: readonly T[]): T => from[Math.floor(random() * from.length)] as T;
  const hasHandle = random() < 0.9 || longest;
  const isConfirmed = random() < 0.8;
  const state = longest || random() < 0.75 ? 'established' : pick(labelerStates);
  const isRead = state === 'established';
  const gapCount = longest ? 14 : random() < 0.4 ? Math.floor(random() * 4) : 0;
  const starts = Array.from({ length: gapCount }, () => end - Math.floor(random() * 29 * dayMs) - dayMs).sort(
    (a, b) => a - b,
  );
  const whole = { start: formatTimestamp(end - windowDays * dayMs), end: formatTimestamp(end) };
  const readGaps = starts.map((start, at) => ({
    start: formatTimestamp(start),
    end: formatTimestamp(Math.min(starts[at + 1] ?? end, start + Math.floor(random() * 3 * dayMs) + 1000)),
    reason: pick(gapReasons),
  }));
  const gaps = isRead || longest ? readGaps : [{ ...whole, reason: 'source_unavailable' as const }];
  const size = longest ? 10 ** 5 : 10 ** Math.floor(random() * 6);
  const dayEntries = days.map((day) => dayFrom({ day, gaps, end, random, size, isRead }));
  const counted = (from: number): number =>
    dayEntries.slice(from).reduce((all, [applied, removed]) => all + (applied ?? 0) + (removed ?? 0), 0);
  const valueCount = longest ? 2 : Math.floor(random() * words.length);
  return {
    did,
    handle: hasHandle ? { name: handleFrom(index, longest), confirmed: isConfirmed } : null,
    enrolled: state !== 'departed' && state !== 'denied',
    state,
    state_since: formatTimestamp(end - Math.floor(random() * 40 * dayMs)),
    problem: isRead ? null : pick(labelerProblems),
    found_by: longest ? ['seeds', 'relay', 'jetstream', 'directory'] : ['relay'],
    read_by: isRead ? pick(['stream', 'pages'] as const) : null,
    first_answered: isRead ? formatTimestamp(end - 40 * dayMs) : null,
    last_answered: isRead ? formatTimestamp(end - Math.floor(random() * 60_000)) : null,
    last_row: counted(0) > 0 ? formatTimestamp(end - Math.floor(random() * dayMs)) : null,
    events: { window: counted(0), week: counted(-7), day: counted(-1) },
    repeats: Math.floor(random() * 3),
    days: dayEntries,
    gaps,
    gap_overflow: longest,
    signatures: {
      verified: Math.floor(random() * size),
      verified_earlier_key: 0,
      invalid: 0,
      unsigned: 0,
      unverified: Math.floor(random() * 5),
    },
    values: Array.from({ length: valueCount }, (_, at) => ({
      value: longest ? `value-${at}-${'x'.repeat(20)}` : (words[at] ?? `value-${at}`),
      events: at > 5 ? fewerThanFive : Math.floor(size / (at + 1)) + 5,
      first_defined: days[0] ?? '',
      last_defined: at === 3 ? (days[12] ?? null) : null,
    })),
    values_omitted: longest ? 100 : 0,
    undeclared: random() < 0.5 ? fewerThanFive : Math.floor(random() * size) + 5,
    replaces_rows: pick([true, false, null]),
    delay_ms: isRead ? { p50: 800 + Math.floor(random() * 400), p90: 2400, labels: size } : null,
  };
}

interface DayContext {
  readonly day: string;
  readonly gaps: LabelerLine['gaps'];
  readonly end: number;
  readonly random: () => number;
  readonly size: number;
  readonly isRead: boolean;
}

function dayFrom({ day, gaps, end, random, size, isRead }: DayContext): LabelerLine['days'][number] {
  const start = Math.max(Date.parse(`${day}T00:00:00Z`), end - windowDays * dayMs);
  const stop = Math.min(Date.parse(`${day}T00:00:00Z`) + dayMs, end);
  const missed = gaps.reduce(
    (all, gap) => all + Math.max(0, Math.min(stop, Date.parse(gap.end)) - Math.max(start, Date.parse(gap.start))),
    0,
  );
  const share = isRead ? Math.max(0, 1 - missed / (stop - start)) : 0;
  if (share === 0) return [null, null, 0];
  return [Math.floor(random() * size), Math.floor((random() * size) / 4), Math.round(share * 1e4) / 1e4];
}

function handleFrom(index: number, longest: boolean): string {
  return longest ? `${'a'.repeat(60)}.${'b'.repeat(20)}.labeler-${index}.example.com` : `labeler-${index}.example.com`;
}

function definitionsFrom({ did, values }: LabelerLine, at: string, longest: boolean): LabelerDefinitionsLine {
  return {
    did,
    seen_at: at,
    values: values.map(({ value }, index) => ({
      value,
      severity: 'inform',
      blurs: index % 2 === 0 ? 'content' : 'none',
      default_setting: 'warn',
      adult_only: index === 2,
      locales: [
        { lang: 'en', name: `The value ${value}`, description: longest ? 'd'.repeat(2_800) : `Posts about ${value}.` },
        ...(index === 0 ? [{ lang: 'de', name: `Der Wert ${value}`, description: 'Beiträge dazu.' }] : []),
      ],
      ...(index === 4 ? { withheld: 'privacy' as const } : {}),
    })),
    values_omitted: 0,
  };
}

/**
 * Writes the three files of a fixture in the order in which the instrument writes them: labelers, definitions,
 * overview.
 */
export function putLabelers(folder: { readonly path: string }, fixture: LabelerFixture): void {
  const { labelers, definitions } = labelerFiles(fixture);
  const put = (name: string, text: string): void => {
    writeFileSync(join(folder.path, `${name}.new`), text);
    renameSync(join(folder.path, `${name}.new`), join(folder.path, name));
  };
  put(artifactNames.labelers, labelers);
  put(artifactNames.labelerDefinitions, definitions);
  put(artifactNames.labels, JSON.stringify(fixture.overview));
}
