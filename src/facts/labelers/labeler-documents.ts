import { type LabelerEnvelope, labelerContractIds } from '../../contract/labelers.ts';
import type { HeaderList } from '../../http/headers.ts';
import type { Reply } from '../../http/reply.ts';
import { renderPage } from '../../web/document.tsx';
import { ageBucket, entityTag } from '../entity-tag.ts';
import { findLeakExcept, type IdentityPlaces } from '../privacy.ts';
import { PrivacyAlarm, wellFormed } from '../representation.ts';
import { labelerEnvelope } from './envelope.ts';
import { Kept } from './kept.ts';
import { labelerPage } from './page/labeler.tsx';
import type { PairOutcome } from './pair.ts';
import { type Conditions, conditional, jsonDocument, pageDocument, refusal, type Validated } from './replies.ts';

/** JSON document and HTML page of one labeler. */

/** Places in `/labelers/DID.json` where identities are allowed. */
const labelerPlaces: IdentityPlaces = { dids: /^\/facts\/did$/, handles: /^\/facts\/handle\/name$/ };

type Paired = Extract<PairOutcome<unknown>, { kind: 'paired' }>;
type Format = 'json' | 'page';

/** A document that may be served, or a marker that building or checking the document failed. */
type Made = { readonly kind: 'made'; readonly validated: Validated } | { readonly kind: 'failed' };

/**
 * Creates a function that responds with one labeler's document or page. If a document cannot be built, only that
 * document is refused, and `alarm` is called. The failure is cached like a document, so that later requests do not
 * repeat the attempt. An unknown labeler is refused without an alarm.
 */
export function labelerDocuments(common: HeaderList, alarm: (did: string, error: unknown) => void) {
  const kept = new Kept<Made>();

  function made(paired: Paired, did: string, format: Format, now: number): Made {
    const { pair, judgement } = paired;
    const bucket = ageBucket(judgement.ageSeconds);
    const key = `${format} ${did}`;
    const known = kept.get(pair, bucket, now, key);
    if (known) return known;
    try {
      const envelope = checkedEnvelope(paired, did, now);
      const times = { modifiedAt: pair.modifiedAt, builtAt: now };
      const tag = entityTag(`${labelerContractIds.one} ${did}`, pair.digest, bucket);
      const validated =
        format === 'json'
          ? jsonDocument(Buffer.from(JSON.stringify(envelope, wellFormed)), tag, times, common)
          : pageDocument(renderPage(labelerPage(envelope)), times, common);
      // A body and its compressed forms together take less than twice the size of the body.
      return kept.set(key, { kind: 'made', validated }, 2 * validated.replies.bytes);
    } catch (error) {
      alarm(did, error);
      return kept.set(key, { kind: 'failed' }, key.length);
    }
  }

  return (paired: Paired, did: string, format: Format, conditions: Conditions, now: number): Reply => {
    const refusalFormat = format === 'json' ? format : { base: '..' };
    const origin = { origin: paired.pair.overview.origin ?? 'live' };
    if (!paired.pair.labelers.set.has(did)) return refusal('unknown_labeler', refusalFormat, common, origin);
    const found = made(paired, did, format, now);
    if (found.kind === 'failed') return refusal('internal_error', refusalFormat, common, origin);
    return conditional(found.validated, conditions);
  };
}

function checkedEnvelope({ pair, judgement }: Paired, did: string, now: number): LabelerEnvelope {
  const envelope = labelerEnvelope(pair, did, judgement, now);
  if (envelope === null) throw new Error('the artifact has no such labeler');
  const leak = findLeakExcept(labelerPlaces, envelope);
  if (leak) throw new PrivacyAlarm(leak);
  return envelope;
}
