import { slot } from '../events/template.ts';
import type { LabelerProfile } from './profile.ts';

const collection = 'app.bsky.labeler.service';

/** Operations on a labeler's declaration. */
export type Declared = 'create' | 'update' | 'delete';

/** The Jetstream frame of a labeler's declaration, as a template's text. */
export function declarationFrame(did: string, { values }: LabelerProfile, operation: Declared): string {
  const head = { rev: slot.rev, operation, collection, rkey: 'self' };
  const commit =
    operation === 'delete'
      ? head
      : { ...head, record: declaration(values), cid: `bafyrei${'a'.repeat(44)}${slot.cid}` };
  return `{"did":"${did}","time_us":${slot.time},"kind":"commit","commit":${JSON.stringify(commit)}}`;
}

/** The Jetstream frame that tells that an identity has changed, as a template's text. */
export function identityChangeFrame(did: string): string {
  const identity = `{"did":"${did}","seq":30340000000,"time":"${slot.created}"}`;
  return `{"did":"${did}","time_us":${slot.time},"kind":"identity","identity":${identity}}`;
}

/** The record `self`: what the values mean, in the labeler's own words. */
export function declaration(values: readonly string[]): Record<string, unknown> {
  return {
    $type: collection,
    createdAt: '2026-01-05T09:00:00.000Z',
    policies: {
      labelValues: values,
      labelValueDefinitions: values
        .filter((value) => !value.startsWith('!'))
        .map((identifier) => ({
          identifier,
          severity: 'inform',
          blurs: 'none',
          defaultSetting: 'warn',
          adultOnly: false,
          locales: [{ lang: 'en', name: identifier, description: `Marked as ${identifier} by this labeler.` }],
        })),
    },
  };
}
