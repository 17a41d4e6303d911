import { type LabelerEnvelope, type LabelersEnvelope, labelerContractIds } from '../../contract/labelers.ts';
import { formatTimestamp } from '../../contract/timestamp.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import type { HeaderList, Reply } from '../../http/reply.ts';
import { chooseCoding, matchesEntityTag } from '../../http/representation/negotiation.ts';
import { renderPage } from '../../web/document.tsx';
import { originCaveats } from '../caveats.ts';
import { chartImage } from '../embeds/chart-documents.tsx';
import { chartCsv } from '../hours/chart-figure.tsx';
import type { Judgement } from '../judge.ts';
import { recentLabelProvenance } from '../project-labels.ts';
import {
  ageBucket,
  entityTag,
  findLeakExcept,
  type IdentityPlaces,
  PrivacyAlarm,
  wellFormed,
} from '../representation.ts';
import { type Catalogue, listPlaces } from './catalogue.ts';
import { activityChart } from './page/activity.tsx';
import { labelerPage } from './page/labeler.tsx';
import { listPage, renderedRow, withRows } from './page/list.tsx';
import type { Pair, PairOutcome } from './pair.ts';
import { projectLabeler } from './project-labeler.ts';
import {
  type Conditions,
  chartDocument,
  codedInBackground,
  isPlain,
  jsonDocument,
  type ListQuery,
  pageDocument,
  passingPage,
  plainQuery,
  refusal,
  selectPage,
  type Validated,
} from './replies.ts';

/** JSON documents and HTML pages about labelers: the list of all of them, and each of them. */

type Paired = Extract<PairOutcome<Catalogue>, { kind: 'paired' }>;

/** Serialized empty list, which is replaced by the prepared entries. */
const emptyList = '"labelers":[]';

/** Creates the functions that respond with the labeler list. They throw PrivacyAlarm if the list must not be served. */
export function listDocuments(common: HeaderList) {
  const documents = new Kept<Validated>();
  const pages = new Kept<Validated>();
  /**
   * Rendered rows of the table by index. They are cached, because parsing and rendering them takes most of the time
   * needed to build a page.
   */
  const rows = new Kept<string>();

  function document({ pair, judgement }: Paired, now: number): Validated {
    const bucket = ageBucket(judgement.ageSeconds);
    const known = documents.get(pair, bucket, now, '');
    if (known) return known;
    const envelope = checkedEnvelope(pair, judgement, now);
    const etag = entityTag(labelerContractIds.list, pair.digest, bucket);
    const times = { modifiedAt: pair.modifiedAt, builtAt: now };
    const body = withEntries(JSON.stringify(envelope), pair.labelers.prepared.json);
    return documents.set('', jsonDocument(body, etag, times, common, codedInBackground), 0);
  }

  function plainPage(paired: Paired, now: number): Validated {
    const { pair, judgement } = paired;
    const known = pages.get(pair, ageBucket(judgement.ageSeconds), now, '');
    if (known) return known;
    const times = { modifiedAt: pair.modifiedAt, builtAt: now };
    return pages.set('', pageDocument(rendered(paired, plainQuery, now), times, common), 0);
  }

  function row({ labelers }: Pair<Catalogue>, index: number, now: number): string {
    const known = rows.get(labelers, 0, now, String(index));
    if (known !== null) return known;
    const summary = labelers.prepared.entries[index];
    const line = summary && labelers.set.labeler(summary.did);
    const text = summary && line ? renderedRow({ index, summary, days: line.days }) : '';
    return rows.set(String(index), text, text.length);
  }

  function rendered({ pair, judgement }: Paired, query: ListQuery, now: number): string {
    const selected = selectPage(pair.labelers.prepared, query);
    const page = renderPage(listPage({ envelope: checkedEnvelope(pair, judgement, now), query, selected }));
    return withRows(
      page,
      selected.shown.map((index) => row(pair, index, now)),
    );
  }

  return {
    document: (paired: Paired, conditions: Conditions, now: number): Reply =>
      conditional(document(paired, now), conditions),
    page(paired: Paired, query: ListQuery, conditions: Conditions, now: number): Reply {
      if (isPlain(query)) return conditional(plainPage(paired, now), conditions);
      return passingPage(rendered(paired, query, now), chooseCoding(conditions.acceptEncoding), common);
    },
    /** Builds the JSON document before a client requests it, because the document is large. */
    warm(paired: Paired, now: number): void {
      document(paired, now);
    },
  };
}

function checkedEnvelope(pair: Pair<Catalogue>, judgement: Paired['judgement'], now: number) {
  const envelope = listEnvelope(pair, judgement, now);
  const leak = findLeakExcept(listPlaces, envelope);
  if (leak) throw new PrivacyAlarm(leak);
  return envelope;
}

/**
 * Inserts the serialized entries in place of the empty list. The text of the empty list is unique, because JSON would
 * escape its quotes within a string.
 */
function withEntries(text: string, entries: readonly Buffer[]): Buffer {
  const at = text.indexOf(emptyList) + emptyList.length - '[]'.length;
  return Buffer.concat([Buffer.from(text.slice(0, at).toWellFormed()), ...entries, Buffer.from(text.slice(at + 2))]);
}

/** Maximum total size of the cached values, in bytes. */
const maxKeptBytes = 4 * 1024 * 1024;

/** Cache of values that were rendered from one pair of artifacts in one age bucket. Its total size is limited. */
class Kept<V> {
  #source: unknown = null;
  #bucket = Number.NaN;
  #madeAt = 0;
  #bytes = 0;
  readonly #values = new Map<string, V>();

  /**
   * Returns the cached value for a key; null if there is none. Empties the cache first if it belongs to other artifacts
   * or another bucket, or if the clock was set back to a time before it was filled.
   */
  get(source: unknown, bucket: number, now: number, key: string): V | null {
    if (this.#source !== source || this.#bucket !== bucket || now < this.#madeAt) {
      this.#clear();
      this.#source = source;
      this.#bucket = bucket;
      this.#madeAt = now;
    }
    return this.#values.get(key) ?? null;
  }

  /**
   * Caches a value for the artifacts and the bucket of the last `get`, and returns it. `bytes` counts towards the
   * maximum size; empties the cache first if the value would exceed it.
   */
  set(key: string, value: V, bytes: number): V {
    if (this.#bytes + bytes > maxKeptBytes) this.#clear();
    this.#bytes += bytes;
    this.#values.set(key, value);
    return value;
  }

  #clear(): void {
    this.#bytes = 0;
    this.#values.clear();
  }
}

/** Places in `/labelers/DID.json` where identities are allowed. */
const labelerPlaces: IdentityPlaces = { dids: /^\/facts\/did$/, handles: /^\/facts\/handle\/name$/ };

type PairedLabeler = Extract<PairOutcome<unknown>, { kind: 'paired' }>;
type Format = 'json' | 'page' | 'csv' | 'svg';

/** A document that may be served, or a marker that building or checking the document failed. */
type Made = { readonly kind: 'made'; readonly validated: Validated } | { readonly kind: 'failed' };

/**
 * Creates a function that responds with one labeler's document or page. If a document cannot be built, only that
 * document is refused, and `alarm` is called. The failure is cached like a document, so that later requests do not
 * repeat the attempt. An unknown labeler is refused without an alarm.
 */
export function labelerDocuments(common: HeaderList, alarm: (did: string, error: unknown) => void) {
  const kept = new Kept<Made>();

  function made(paired: PairedLabeler, did: string, format: Format, now: number): Made {
    const { pair, judgement } = paired;
    const bucket = ageBucket(judgement.ageSeconds);
    const key = `${format} ${did}`;
    const known = kept.get(pair, bucket, now, key);
    if (known) return known;
    try {
      const envelope = checkedLabeler(paired, did, now);
      const times = { modifiedAt: pair.modifiedAt, builtAt: now };
      const tag = entityTag(`${labelerContractIds.one} ${did}`, pair.digest, bucket);
      const validated =
        format === 'json'
          ? jsonDocument(Buffer.from(JSON.stringify(envelope, wellFormed)), tag, times, common)
          : format === 'page'
            ? pageDocument(renderPage(labelerPage(envelope)), times, common, true)
            : chartDocument(chartFileOf(envelope, format), format, times, common);
      // A body and its compressed forms together take less than twice the size of the body.
      return kept.set(key, { kind: 'made', validated }, 2 * validated.replies.bytes);
    } catch (error) {
      alarm(did, error);
      return kept.set(key, { kind: 'failed' }, key.length);
    }
  }

  return (paired: PairedLabeler, did: string, format: Format, conditions: Conditions, now: number): Reply => {
    const refusalFormat = format === 'page' ? { base: '..' } : 'json';
    const origin = { origin: paired.pair.overview.origin ?? 'live' };
    if (!paired.pair.labelers.set.has(did)) return refusal('unknown_labeler', refusalFormat, common, origin);
    const found = made(paired, did, format, now);
    if (found.kind === 'failed') return refusal('internal_error', refusalFormat, common, origin);
    return conditional(found.validated, conditions);
  };
}

/** Returns the chart of a labeler's page as a file. */
function chartFileOf({ facts, provenance }: LabelerEnvelope, format: 'csv' | 'svg'): string {
  const chart = activityChart(facts);
  if (chart === null) throw new Error('the window has no length');
  const origin = provenance.origin ?? 'live';
  if (format === 'csv') return chartCsv(chart, origin);
  return chartImage(chart, origin, `Labeler ${facts.did}. `);
}

function checkedLabeler({ pair, judgement }: PairedLabeler, did: string, now: number): LabelerEnvelope {
  const envelope = labelerEnvelope(pair, did, judgement, now);
  if (envelope === null) throw new Error('the artifact has no such labeler');
  const leak = findLeakExcept(labelerPlaces, envelope);
  if (leak) throw new PrivacyAlarm(leak);
  return envelope;
}

type Servable = Extract<Judgement, { servable: true }>;

const caveats = [
  'Observed application and removal events do not establish which labels are active now.',
  'Having no observations does not mean that no labels exist.',
  'For a day that was only partly read, only the observed events are counted. For an unread day, the counts are null.',
  'The absence of recorded gaps does not prove complete coverage.',
] as const;

const labelerCaveats = [
  'A value is named only if the definitions of the labeler declare it; the events of all other values are counted together.',
  'Definitions and values are the words of the labeler.',
] as const;

function caveatsOf(origin: Origin, more: readonly string[]): string[] {
  return [...(origin === 'live' ? [] : [originCaveats[origin]]), ...caveats, ...more];
}

function head<P>({ overview, labelers }: Pair<P>, { freshness }: Servable, now: number) {
  return {
    instrument: 'labels' as const,
    generated_at: labelers.set.header.generated_at,
    retrieved_at: formatTimestamp(now),
    age_seconds: freshness.age_seconds ?? 0,
    provenance: { ...recentLabelProvenance(overview), artifact_schema_version: labelers.set.header.schema },
    freshness,
  };
}

function frame<P>({ overview, labelers }: Pair<P>) {
  const { window, counted_since } = labelers.set.header;
  const { generation_id, started_at, basis } = overview.acquisition;
  return {
    window: { start: window.start, end: window.end },
    acquisition: { generation_id, started_at, basis },
    counted_since,
  };
}

/** Returns the envelope of the list with an empty list of labelers. */
function listEnvelope(pair: Pair<Catalogue>, judgement: Servable, now: number): LabelersEnvelope {
  const { prepared, set } = pair.labelers;
  const { provenance, freshness, ...first } = head(pair, judgement, now);
  return {
    contract: labelerContractIds.list,
    ...first,
    facts: {
      ...frame(pair),
      conclusion: prepared.conclusion,
      states: { ...prepared.states },
      omitted: set.header.omitted,
      labelers: [],
    },
    caveats: caveatsOf(pair.overview.origin ?? 'live', []),
    provenance,
    freshness,
  };
}

/** Returns the envelope of one labeler's document; null if the artifact has no such labeler. */
function labelerEnvelope<P>(pair: Pair<P>, did: string, judgement: Servable, now: number): LabelerEnvelope | null {
  const { set } = pair.labelers;
  const line = set.labeler(did);
  if (line === null) return null;
  const { conclusion, ...own } = projectLabeler(line, set.definitions(did), set.header);
  const { provenance, freshness, ...first } = head(pair, judgement, now);
  return {
    contract: labelerContractIds.one,
    ...first,
    facts: { ...frame(pair), conclusion, ...own },
    caveats: caveatsOf(pair.overview.origin ?? 'live', labelerCaveats),
    provenance,
    freshness,
  };
}

/** Returns a 304 or 200 response, depending on the conditional headers of the request. */
function conditional({ etag, notModified, replies }: Validated, conditions: Conditions): Reply {
  if (matchesEntityTag(conditions.ifNoneMatch, etag)) return notModified;
  return replies.of(chooseCoding(conditions.acceptEncoding));
}
