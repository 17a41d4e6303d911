import { holds, includes, same } from '../run.ts';
import { type Bound, faults, type Query, spanOf, written } from './account-arbitraries.ts';
import {
  type AccountWorld,
  agrees,
  coverageOf,
  digestChain,
  type ModelGap,
  publishedRow,
  rowsIn,
  type Span,
  shownOf,
  sixDecimals,
} from './account-model.ts';
import type { AccountBounds, AccountProgram } from './account-programs.ts';
import { historyEnd } from './account-world.ts';

/** Sends a query and its follow-up requests to the program, and compares each response with the model. */

/** Time of the requests, in milliseconds. Requests that continue an export may be up to about a minute later. */
const nowMs = historyEnd / 1000;
/** Time of the requests, in microseconds. */
const now = historyEnd;

type Body = Record<string, unknown>;
interface Manifest extends Body {
  readonly interval: { readonly start: string; readonly end: string };
  readonly coverage: Body & { readonly labelers: Body[]; readonly gaps: Body[] };
}

export interface Place {
  readonly world: AccountWorld;
  readonly programs: readonly AccountProgram[];
}

export function accountChecker(places: readonly Place[]) {
  const counts = new Map<string, number>();

  async function check(query: Query): Promise<void> {
    const place = places[query.world % places.length];
    const program = place?.programs[query.program % place.programs.length];
    if (!place || !program) throw new Error('the program of the case does not exist');
    await new Conversation(place.world, program, query, counts).run();
  }

  return { check, counts };
}

class Conversation {
  readonly world: AccountWorld;
  readonly program: AccountProgram;
  readonly query: Query;
  readonly counts: Map<string, number>;
  readonly asked: Span;
  readonly bounds: AccountBounds;

  constructor(world: AccountWorld, program: AccountProgram, query: Query, counts: Map<string, number>) {
    this.world = world;
    this.program = program;
    this.bounds = program.bounds;
    // A query has at most one error, so exactly one refusal is correct.
    this.query = query.fault === null ? query : { ...query, interval: { kind: 'none' } };
    this.counts = counts;
    this.asked = askedOf(world, this.query);
  }

  async run(): Promise<void> {
    const parameters = parametersOf(this.query, this.asked);
    const code = this.#refusal();
    if (this.query.followUp === 'page' || this.query.followUp === 'download') return this.#page(parameters, code);
    const { status, body } = await this.#ask('/exports', parameters);
    if (code !== null) return refused(status, body, 409, code);
    const shown = shownOf(this.world, this.asked, now);
    if (shown === null) return refused(status, body, 409, 'out_of_window');
    const rows = rowsIn(this.world, this.query.account, shown);
    if (rows.length > this.bounds.maxExportRows) return this.#tooLarge(status, body);
    same([status, body.error], [200, undefined]);
    this.#manifest(body.manifest as Manifest, shown, rows.length);
    await this.#follow(body, shown);
  }

  #refusal(): string | null {
    if (this.query.fault !== null) return faults[this.query.fault];
    return this.asked.start < this.asked.end ? null : 'invalid_interval';
  }

  async #ask(path: string, search: string, at = nowMs): Promise<{ status: number; text: string; body: Body }> {
    const { status, text } = await this.program.get(`${path}?${search}`, at);
    const body = text.startsWith('{') ? (JSON.parse(text) as Body) : {};
    const kind = `${path} ${status} ${(body.error as Body | undefined)?.code ?? ''}`;
    this.counts.set(kind, (this.counts.get(kind) ?? 0) + 1);
    this.counts.set('requests', (this.counts.get('requests') ?? 0) + 1);
    return { status, text, body };
  }

  #manifest(manifest: Manifest, shown: Span, bound: number): void {
    const { query, world, asked } = this;
    const { coverage, interval, frontier, created_at, expires_at, ...rest } = manifest;
    const last = world.rows.at(-1)?.observedAt ?? world.floor;
    same(rest, {
      schema: 'atproto.account.export/v1',
      account: query.account,
      clipped: shown.start !== asked.start || shown.end !== asked.end,
      filters: query.filters,
      acquisition: {
        generation_id: world.generationId,
        started_at: sixDecimals(world.startedAt),
        basis: 'local_acceptance_clock',
      },
      count_bound: bound,
      current_label_state: 'unknown',
      page_rows: this.bounds.pageRows,
    });
    same(interval, { start: sixDecimals(shown.start), end: sixDecimals(shown.end), end_exclusive: true });
    same(frontier, sixDecimals(Math.min(last + 1, shown.end)));
    same([Date.parse(String(created_at)), Date.parse(String(expires_at))], [nowMs, nowMs + this.bounds.ttlMs]);
    const expected = coverageOf(world, asked, shown, now, query.filters);
    const { labelers, gaps, warmup, ...said } = coverage;
    same(said, {
      status: expected.status,
      observed_through: sixDecimals(expected.observedThrough),
      covered_through: sixDecimals(expected.coveredThrough),
    });
    same(warmup, expected.warmup && gapOf({ ...expected.warmup, source: null, reason: 'not_observed' }));
    same(gaps, expected.gaps.map(gapOf));
    const listed = [...expected.labelers].map(([labeler_did, { state, gaps: own }]) => ({
      labeler_did,
      state,
      gaps: own.map(gapOf),
    }));
    same(byDid(labelers), byDid(listed));
  }

  async #follow(created: Body, shown: Span): Promise<void> {
    const { query, bounds } = this;
    if (query.followUp === 'nothing') return;
    const cursor = String(created.cursor);
    const at = nowMs + query.laterMs;
    if (query.followUp === 'altered cursor') {
      const place = query.program % cursor.length;
      const changed = `${cursor.slice(0, place)}${cursor[place] === 'A' ? 'B' : 'A'}${cursor.slice(place + 1)}`;
      const { status, body } = await this.#ask('/exports', `cursor=${changed}`, at);
      // Skip the last character: it may contain unused bits of the base64 encoding.
      if (place < cursor.length - 1) refused(status, body, 409, 'invalid_cursor');
      return;
    }
    if (query.followUp === 'cursor and more') {
      const { status, body } = await this.#ask('/exports', `cursor=${cursor}&did=${query.account}`, at);
      return refused(status, body, 409, 'unknown_parameter');
    }
    const download = await this.#ask('/download', `cursor=${cursor}`, at);
    if (query.laterMs < bounds.ttlMs) refused(download.status, download.body, 409, 'invalid_cursor');
    await this.#pages(created, shown, at);
  }

  async #pages(created: Body, shown: Span, at: number): Promise<void> {
    const { query, bounds } = this;
    const wanted = rowsIn(this.world, query.account, shown)
      .filter((row) => agrees(row, query.filters))
      .map(publishedRow);
    const rows: unknown[] = [];
    for (let cursor: unknown = created.cursor; cursor !== null; ) {
      const { status, body } = await this.#ask('/exports', `cursor=${String(cursor)}`, at);
      if (query.laterMs >= bounds.ttlMs) return refused(status, body, 410, 'snapshot_expired');
      same([status, body.error], [200, undefined]);
      same(body.manifest, created.manifest);
      const page = body.rows as unknown[];
      holds(page.length <= bounds.pageRows, 'a page has at most the maximum number of rows');
      same(page, wanted.slice(rows.length, rows.length + page.length));
      rows.push(...page);
      same(body.terminal, body.next_cursor === null);
      if (body.terminal === true) this.#terminal(body, created, wanted, rows);
      else if (query.followUp === 'first page') return;
      cursor = body.next_cursor;
    }
  }

  #terminal(body: Body, created: Body, wanted: readonly unknown[], rows: readonly unknown[]): void {
    same(rows, wanted);
    same([body.count, body.content_sha256], [rows.length, digestChain(created.manifest, rows)]);
  }

  /**
   * Checks the intervals that a refusal for too many rows suggests. Each must fit into one export, and together they
   * must cover the requested interval without gaps or overlaps.
   */
  async #tooLarge(status: number, body: Body): Promise<void> {
    refused(status, body, 409, 'export_too_large');
    const { intervals = [] } = body.error as { intervals?: { start: string; end: string; rows: number }[] };
    same([intervals[0]?.start, intervals.at(-1)?.end], [sixDecimals(this.asked.start), sixDecimals(this.asked.end)]);
    for (const [nth, { start, end, rows }] of intervals.entries()) {
      if (nth > 0) same(start, intervals[nth - 1]?.end);
      const within = { start: microsOf(start), end: microsOf(end) };
      holds(
        within.start < within.end && rows <= this.bounds.maxExportRows,
        'a suggested interval is not empty and fits into one export',
      );
      const available = shownOf(this.world, within, now);
      same(rows, available === null ? 0 : rowsIn(this.world, this.query.account, available).length);
    }
    const one = intervals[this.query.program % intervals.length];
    if (this.query.followUp !== 'all pages' || !one) return;
    const interval = { kind: 'explicit' as const, start: boundAt(one.start), end: boundAt(one.end) };
    await new Conversation(this.world, this.program, { ...this.query, interval, zone: 'Z' }, this.counts).run();
  }

  /**
   * Checks that the account page has the expected status, and that its downloads together contain the expected rows.
   */
  async #page(parameters: string, code: string | null): Promise<void> {
    const { status, text } = await this.#ask('/account', parameters);
    const shown = code === null ? shownOf(this.world, this.asked, now) : null;
    same(status, shown === null ? 409 : 200);
    holds(text.startsWith('<!doctype html>'), 'the response is a page');
    if (shown === null || this.query.followUp !== 'download') return;
    const rows = rowsIn(this.world, this.query.account, shown).filter((row) => agrees(row, this.query.filters));
    const got: unknown[] = [];
    for (const [, cursor = ''] of text.matchAll(/\/download\?cursor=([\w-]+)/g)) {
      const { status: given, body } = await this.#ask('/download', `cursor=${cursor}`);
      same([given, body.error], [200, undefined]);
      const document = body as { manifest: Manifest; rows: unknown[] };
      const within = {
        start: microsOf(document.manifest.interval.start),
        end: microsOf(document.manifest.interval.end),
      };
      holds(within.start >= shown.start && within.end <= shown.end, 'a part lies within the interval');
      same(
        document.rows,
        rows.filter((row) => row.observedAt >= within.start && row.observedAt < within.end).map(publishedRow),
      );
      same([body.count, body.content_sha256], [document.rows.length, digestChain(document.manifest, document.rows)]);
      got.push(...document.rows);
    }
    // With too many rows, the page may refer to the export instead. The response that refuses the export then contains
    // the intervals that fit.
    const isOffered =
      got.length > 0 || rowsIn(this.world, this.query.account, shown).length <= this.bounds.maxExportRows;
    if (isOffered) same(got, rows.map(publishedRow));
  }
}

function refused(status: number, body: Body, expected: number, code: string): void {
  const { error } = body as { error?: Body };
  same([status, error?.status, error?.code], [expected, expected, code]);
  includes(['string'], typeof error?.message);
}

function gapOf({ start, end, reason }: ModelGap): Body {
  return { start: sixDecimals(start), end: sixDecimals(end), reason };
}

function byDid(items: readonly Body[]): Body[] {
  return items.toSorted((a, b) => (String(a.labeler_did) < String(b.labeler_did) ? -1 : 1));
}

/** Converts a timestamp with six decimals to microseconds since 1970. */
function microsOf(text: string): number {
  return Date.parse(`${text.slice(0, 23)}Z`) * 1000 + Number(text.slice(23, 26));
}

function boundAt(text: string): Bound {
  return { anchor: 'anywhere', pick: 0, offset: microsOf(text) - historyEnd };
}

function askedOf(world: AccountWorld, { interval, account }: Query): Span {
  if (interval.kind !== 'explicit') return spanOf(interval.kind, now);
  const rows = world.rows.filter((row) => row.account === account);
  const at = ({ anchor, pick, offset }: Bound): number => {
    const gap = world.gaps[pick % world.gaps.length];
    const anchors = {
      row: rows[pick % Math.max(1, rows.length)]?.observedAt ?? now,
      gap: (pick % 2 === 0 ? gap?.start : gap?.end) ?? now,
      floor: world.floor,
      epoch: world.startedAt,
      now,
      'observed through': world.observedThrough,
      anywhere: now,
    };
    return anchors[anchor] + offset;
  };
  return { start: at(interval.start), end: at(interval.end) };
}

function parametersOf({ account, interval, filters, fault, zone }: Query, asked: Span): string {
  const search = new URLSearchParams({ did: account });
  if (interval.kind === '7' || interval.kind === '30') search.set('days', interval.kind);
  if (interval.kind === 'explicit') {
    search.set('start', written(asked.start, zone));
    search.set('end', written(asked.end, zone));
  }
  for (const [name, value] of Object.entries(filters)) search.set(name, String(value));
  const changes: Record<string, () => void> = {
    'no account': () => search.delete('did'),
    'not an account': () => search.set('did', 'did:key:z6Mk'),
    'two accounts': () => search.append('did', account),
    'nine days': () => only(search, { days: '9' }),
    'days with an interval': () => only(search, { days: '7', start: written(now - 9, 'Z'), end: written(now, 'Z') }),
    'a start alone': () => only(search, { start: written(now - 9, 'Z') }),
    'no zone': () => only(search, { start: '2026-11-20T00:00:00', end: written(now, 'Z') }),
    'not an action': () => search.set('action', 'applied'),
    'not a kind': () => search.set('target_kind', 'list'),
    'not a labeler': () => search.set('labeler', 'labels.example.com'),
    'a long value': () => search.set('value', 'v'.repeat(129)),
    'an unknown parameter': () => search.set('limit', '5'),
  };
  if (fault !== null) changes[fault]?.();
  return search.toString();
}

function only(search: URLSearchParams, interval: Readonly<Record<string, string>>): void {
  for (const name of ['days', 'start', 'end']) search.delete(name);
  for (const [name, value] of Object.entries(interval)) search.set(name, value);
}
