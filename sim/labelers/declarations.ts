import { slot } from '../events/template.ts';
import type { LabelDefinition, LabelerProfile } from './profile.ts';

const collection = 'app.bsky.labeler.service';

/** Operations on a labeler's declaration. */
export type Declared = 'create' | 'update' | 'delete';

/** Returns the template text of the Jetstream frame for a labeler's declaration. */
export function declarationFrame(did: string, profile: LabelerProfile, operation: Declared): string {
  const head = { rev: slot.rev, operation, collection, rkey: 'self' };
  const commit =
    operation === 'delete'
      ? head
      : { ...head, record: declaration(profile), cid: `bafyrei${'a'.repeat(44)}${slot.cid}` };
  return `{"did":"${did}","time_us":${slot.time},"kind":"commit","commit":${JSON.stringify(commit)}}`;
}

/** Returns the template text of the Jetstream frame for a changed identity. */
export function identityChangeFrame(did: string): string {
  const identity = `{"did":"${did}","seq":30340000000,"time":"${slot.created}"}`;
  return `{"did":"${did}","time_us":${slot.time},"kind":"identity","identity":${identity}}`;
}

/** Returns the record `self` with the labeler's own definitions of the values. */
export function declaration({
  values,
  definitions,
}: Pick<LabelerProfile, 'values' | 'definitions'>): Record<string, unknown> {
  return {
    $type: collection,
    createdAt: '2026-01-05T09:00:00.000Z',
    policies: { labelValues: values, labelValueDefinitions: definitions ?? plainDefinitions(values) },
  };
}

/** Returns one plain definition for each value that is not a value of the system. */
export function plainDefinitions(values: readonly string[]): LabelDefinition[] {
  return values
    .filter((value) => !value.startsWith('!'))
    .map((identifier) => ({
      identifier,
      severity: 'inform',
      blurs: 'none',
      defaultSetting: 'warn',
      adultOnly: false,
      locales: [{ lang: 'en', name: identifier, description: `Marked as ${identifier} by this labeler.` }],
    }));
}
