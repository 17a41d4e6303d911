import fc from 'fast-check';
import type { Json, JsonObject } from './values.ts';

/** Generates damaged artifacts. Some have changed values and usually remain readable; others have changed bytes. */

type Path = readonly (string | number)[];

const strange: fc.Arbitrary<Json> = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, -1, 0.5, 1e308, 2 ** 53, 2 ** 53 - 1, '', 'unknown', 'calm', '2026', '—'),
  fc.constantFrom<Json>([], {}, [[]], [null], 'live', '2026-11-20T12:00:00', '2026-11-20T12:00:00+05:00'),
  fc.constantFrom<Json>('2026-02-30T00:00:00Z', '2026-11-20T24:00:00Z', '2099-01-01T00:00:00Z', 'half \ud800 a pair'),
  fc.constantFrom<Json>('did:plc:ar7c4by46qjdydhdevvrndac', 'at://did:plc:ar7c4by46qjdydhdevvrndac/a/b', 'did:web:x'),
  fc.constantFrom<Json>('words', 'gapped', 'partial', 'fresh', 'maintenance', '2026-11-20T12:00:00.123456+00:00'),
);

type Edit =
  | { readonly kind: 'replace'; readonly pick: number; readonly value: Json }
  | { readonly kind: 'remove' | 'add'; readonly pick: number };

const edit: fc.Arbitrary<Edit> = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('replace' as const), pick: fc.nat(), value: strange }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constantFrom('remove' as const, 'add' as const), pick: fc.nat() }) },
);

const bytesDamage = fc.oneof(
  { weight: 30, arbitrary: fc.constant('none' as const) },
  { weight: 1, arbitrary: fc.constantFrom('cut', 'twice', 'repeated key', 'not UTF-8', 'an array') },
);

/** Generates the bytes of an artifact, sometimes damaged; null for a missing artifact. */
export function damaged(artifact: fc.Arbitrary<JsonObject | null>): fc.Arbitrary<Uint8Array | null> {
  const edits = fc.oneof(
    { weight: 3, arbitrary: fc.constant([]) },
    { weight: 2, arbitrary: fc.array(edit, { minLength: 1, maxLength: 2 }) },
  );
  return fc.tuple(artifact, edits, bytesDamage).map(([value, changes, damage]) => {
    if (value === null) return null;
    const edited = changes.reduce(changed, structuredClone(value));
    return Buffer.from(textOf(edited, damage), damage === 'not UTF-8' ? 'latin1' : 'utf8');
  });
}

function textOf(artifact: JsonObject, damage: string): string {
  const text = JSON.stringify(artifact);
  if (damage === 'cut') return text.slice(0, text.length / 2);
  if (damage === 'twice') return text + text;
  if (damage === 'repeated key') return text.replace(/^\{"(\w+)":/, '{"$1":null,"$1":');
  if (damage === 'not UTF-8') return text.replace(/^\{/, '{"x":"\xff",');
  return damage === 'an array' ? `[${text}]` : text;
}

function pathsOf(value: Json, path: Path = []): Path[] {
  if (typeof value !== 'object' || value === null) return [path];
  // Change only the first elements of a long list; otherwise most changes would hit one of many gaps.
  const entries: [string | number, Json][] = Array.isArray(value) ? [...value.entries()] : Object.entries(value);
  return [path, ...entries.slice(0, 40).flatMap(([key, member]) => pathsOf(member, [...path, key]))];
}

function changed(artifact: JsonObject, edit: Edit): JsonObject {
  const all = pathsOf(artifact).slice(1);
  const path = all[edit.pick % all.length];
  if (!path) return artifact;
  const key = path.at(-1) ?? '';
  const parent = path
    .slice(0, -1)
    .reduce<Json>((node, step) => (node as Record<string | number, Json>)[step] ?? null, artifact);
  const holder = parent as Record<string | number, Json>;
  if (edit.kind === 'replace') holder[key] = structuredClone(edit.value);
  else if (Array.isArray(parent)) parent.splice(Number(key), 1);
  else if (edit.kind === 'remove') delete holder[key];
  else holder.field_of_another_version = 'words';
  return artifact;
}
