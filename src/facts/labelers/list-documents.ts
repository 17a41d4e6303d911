import { labelerContractIds } from '../../contract/labelers.ts';
import type { HeaderList } from '../../http/headers.ts';
import type { Reply } from '../../http/reply.ts';
import { chooseCoding } from '../../http/representation/accept-encoding.ts';
import { renderPage } from '../../web/document.tsx';
import { ageBucket, entityTag } from '../entity-tag.ts';
import { findLeakExcept } from '../privacy.ts';
import { PrivacyAlarm } from '../representation.ts';
import { type Catalogue, listPlaces } from './catalogue.ts';
import { codedInBackground } from './coded-reply.ts';
import { listEnvelope } from './envelope.ts';
import { Kept } from './kept.ts';
import { listPage, renderedRow, withRows } from './page/list.tsx';
import type { Pair, PairOutcome } from './pair.ts';
import { isPlain, type ListQuery, plainQuery, selectPage } from './query.ts';
import { type Conditions, conditional, jsonDocument, pageDocument, passingPage, type Validated } from './replies.ts';

/** JSON document and HTML page that list all labelers. */

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
