import { slot } from '../events/template.ts';
import type { LabelDefinition } from './profile.ts';

const collection = 'app.bsky.labeler.service';

/**
 * Values that a labeler declares, with their definitions. If `definitions` is absent, the values have plain
 * definitions.
 */
export interface DeclaredValues {
  readonly values: readonly string[];
  readonly definitions?: readonly LabelDefinition[];
}

/** A labeler's record, and the time from which the record applies, in microseconds of the network's clock. */
export interface DeclaredRecord extends DeclaredValues {
  readonly sinceUs: number;
}

/** Operation on a labeler's declaration. */
export type Declared = 'create' | 'update' | 'delete';

/** Returns the text template of the Jetstream frame for a labeler's declaration. */
export function declarationFrame(did: string, record: DeclaredValues, operation: Declared): string {
  const head = { rev: slot.rev, operation, collection, rkey: 'self' };
  const commit =
    operation === 'delete'
      ? head
      : { ...head, record: declaration(record), cid: `bafyrei${'a'.repeat(44)}${slot.cid}` };
  return `{"did":"${did}","time_us":${slot.time},"kind":"commit","commit":${JSON.stringify(commit)}}`;
}

/** Returns the text template of the Jetstream frame for an identity change. */
export function identityChangeFrame(did: string): string {
  const identity = `{"did":"${did}","seq":30340000000,"time":"${slot.created}"}`;
  return `{"did":"${did}","time_us":${slot.time},"kind":"identity","identity":${identity}}`;
}

/** Returns the record `self` of a labeler, with its declared values and their definitions. */
export function declaration({ values, definitions }: DeclaredValues): Record<string, unknown> {
  return {
    $type: collection,
    createdAt: '2026-01-05T09:00:00.000Z',
    policies: { labelValues: values, labelValueDefinitions: definitions ?? plainDefinitions(values) },
  };
}

/** Returns a plain definition for each value, except for system values, which begin with `!`. */
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
