import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ArtifactFixture, artifactFixtures, fixture, fixtureText } from '../../harness/artifacts/fixtures.ts';
import { openApi } from '../../harness/artifacts/openapi.ts';
import { factsInMemory, factsOf, fixtureNow } from '../../harness/process/facts.ts';
import { calmRemoved } from '../../src/facts/project-labels.ts';

/**
 * Number of random mutations of each of the four artifacts. Mutations change types, ranges and encodings, remove parts,
 * and truncate. A damaged artifact must be refused, or its values must be served unchanged.
 */

const mutationsEach = 25_000;
/** Seed of the random mutations. It is fixed to make runs repeatable; `MUTATION_SEED` overrides it. */
const seed = Number(process.env.MUTATION_SEED ?? 1);

type Json = null | boolean | number | string | Json[] | { [key: string]: Json };
type Path = (string | number)[];

/** Returns the paths of a value and of all values in it, each before those that it contains. */
function paths(value: Json, path: Path = [], into: Path[] = []): Path[] {
  into.push(path);
  if (Array.isArray(value)) for (const [index, member] of value.entries()) paths(member, [...path, index], into);
  else if (typeof value === 'object' && value !== null)
    for (const [key, member] of Object.entries(value)) paths(member, [...path, key], into);
  return into;
}

const strange = fc.oneof(
  fc.constantFrom<Json>(null, true, false, 0, -1, 0.5, 1e308, 2 ** 53, -0, '', 'unknown', [], {}, [[]], 'calm', '2026'),
  fc.constantFrom<Json>('2026-11-20T12:00:00', '2026-11-20T12:00:00+05:00', '2099-01-01T00:00:00Z', '—', '\ud800'),
  fc.constantFrom<Json>('did:plc:ar7c4by46qjdydhdevvrndac', 'did:web:x', 'at://did:plc:ar7c4by46qjdydhdevvrndac/a/b'),
  fc.integer(),
  fc.double({ noNaN: true }),
  fc.string({ maxLength: 12 }),
) as fc.Arbitrary<Json>;

type Change =
  | { kind: 'replace'; pick: number; value: Json }
  | { kind: 'remove'; pick: number }
  | { kind: 'rename'; pick: number; key: string }
  | { kind: 'repeat'; pick: number; times: number };

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ kind: fc.constant('replace' as const), pick: fc.nat(), value: strange }),
  fc.record({ kind: fc.constant('remove' as const), pick: fc.nat() }),
  fc.record({ kind: fc.constant('rename' as const), pick: fc.nat(), key: fc.string({ maxLength: 8 }) }),
  fc.record({ kind: fc.constant('repeat' as const), pick: fc.nat(), times: fc.integer({ min: 2, max: 140 }) }),
);

/** Generates damage to the bytes, which is applied after the damage to the values. */
const bytesDamage = fc.oneof(
  { weight: 8, arbitrary: fc.constant({ kind: 'none' as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('cut' as const), at: fc.nat() }) },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('flip' as const), at: fc.nat(), byte: fc.integer({ min: 0, max: 255 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.constantFrom({ kind: 'utf16' as const }, { kind: 'bom' as const }, { kind: 'twice' as const }),
  },
);
type Damage = typeof bytesDamage extends fc.Arbitrary<infer T> ? T : never;

function applied(value: Json, { pick, ...rest }: Change): Json {
  const all = paths(value).slice(1);
  const path = all[pick % all.length];
  if (!path) return value;
  const key = path.at(-1) ?? '';
  const parent = path
    .slice(0, -1)
    .reduce<Json>((node, step) => (node as Record<string | number, Json>)[step] ?? null, value);
  const holder = parent as Record<string | number, Json>;
  const before = holder[key] ?? null;
  if (rest.kind === 'replace') holder[key] = structuredClone(rest.value);
  else if (rest.kind === 'repeat' && Array.isArray(before) && JSON.stringify(before).length < 5_000)
    holder[key] = Array.from({ length: rest.times }, () => before[0] ?? null);
  else {
    if (Array.isArray(parent)) parent.splice(Number(key), 1);
    else {
      delete holder[key];
      if (rest.kind === 'rename') holder[rest.key] = before;
    }
  }
  return value;
}

function damaged(text: string, damage: Damage): Buffer {
  const bytes = Buffer.from(text);
  switch (damage.kind) {
    case 'none':
      return bytes;
    case 'cut':
      return bytes.subarray(0, damage.at % bytes.length);
    case 'flip':
      bytes[damage.at % bytes.length] = damage.byte;
      return bytes;
    case 'utf16':
      return Buffer.from(text, 'utf16le');
    case 'bom':
      return Buffer.concat([Buffer.from([0xef, 0xbb, 0xbf]), bytes]);
    case 'twice':
      return Buffer.concat([bytes, bytes]);
  }
}

/** Returns every primitive in a value as JSON. Unpaired surrogates are replaced as in published facts. */
function leaves(value: unknown, into = new Set<string>()): Set<string> {
  if (typeof value === 'object' && value !== null) {
    for (const [key, member] of Object.entries(value)) {
      if (!Array.isArray(value)) into.add(JSON.stringify(key));
      leaves(member, into);
    }
  } else into.add(JSON.stringify(typeof value === 'string' ? value.toWellFormed() : value));
  return into;
}

/**
 * Returns true for a value that publication may add: a value that stands for absence, or a number that the projection
 * computes.
 */
function mayAdd(pointer: string, leaf: string): boolean {
  if (leaf === 'null' || leaf === '"unknown"') return true;
  // Allow the weaker of two statuses, with which an inconsistent overview is published.
  if (pointer === '/facts/coverage/status') return /^"(?:gapped|warming_up)"$/.test(leaf);
  if (pointer === '/facts/coverage/observed_days') return true;
  if (/^\/facts\/(?:alert_count_window|census\/\w+\/unknown)$/.test(pointer)) return true;
  if (pointer === '/facts/network_weather/attribution') return leaf === JSON.stringify(calmRemoved);
  if (pointer.startsWith('/facts/network_weather/')) return /^"(?:under-observed|unobserved)"$|^false$/.test(leaf);
  if (/^\/facts\/coverage\/(?:gaps\/0\/start|gap_overflow)$/.test(pointer)) return true;
  return /^\/facts\/window\/(?:start|end)$/.test(pointer) && /T\d\d:\d\d:\d\d\.000Z"$/.test(leaf);
}

function unsaid(value: unknown, said: Set<string>, pointer: string): string[] {
  if (typeof value !== 'object' || value === null) {
    const leaf = JSON.stringify(value);
    return said.has(leaf) || mayAdd(pointer, leaf) ? [] : [`${pointer}: ${leaf}`];
  }
  return Object.entries(value).flatMap(([key, member]) => unsaid(member, said, `${pointer}/${key}`));
}

/**
 * Returns true if the text contains a DID, an AT-URI, or a domain name that the undamaged artifact does not contain.
 * For example, one changed byte turns the host `jetstream.bsky.network` into the valid handle `jetstream.bsky.ne`.
 */
function mayNameAnAccount(text: string, original: Json): boolean {
  if (/did:|at:\/\//i.test(text)) return true;
  const known = new Set(domainNames(JSON.stringify(original)));
  return domainNames(text).some((name) => !known.has(name));
}

function domainNames(text: string): string[] {
  return text.match(/[a-z0-9-]+(?:\.[a-z0-9-]+)+/gi) ?? [];
}

describe.each(Object.keys(artifactFixtures) as ArtifactFixture[])('a mutated %s artifact', (name) => {
  const facts = factsInMemory(fixtureNow[name]);
  const text = fixtureText(artifactFixtures[name]);
  const original = JSON.parse(text) as Json;

  it('is refused, or its values are served unchanged', () => {
    const seen = { served: 0, refused: 0, alarmed: 0 };
    fc.assert(
      fc.property(fc.array(change, { minLength: 1, maxLength: 3 }), bytesDamage, (changes, damage) => {
        const value = changes.reduce(applied, JSON.parse(text) as Json);
        const bytes = damaged(JSON.stringify(value), damage);
        facts.set(name, bytes);
        let said: Set<string> | null = null;
        for (const path of factsOf[name]) {
          const { status, body } = facts.get(path);
          const answer = JSON.parse(body?.toString('utf8') ?? '');
          const faults = openApi.faults('get', path, status, answer);
          if (status === 200) {
            said ??= leaves(JSON.parse(bytes.toString('utf8')));
            faults.push(...unsaid(answer.facts, said, '/facts'));
          }
          // Call `expect` only for faults, because each call takes longer than the rest of the case.
          if (faults.length > 0) expect(faults).toEqual([]);
          if (status === 200) seen.served++;
          else if (status === 503) seen.refused++;
          else {
            // The privacy scan refuses the whole fact if its text contains an identity.
            expect([status, answer.error.code, mayNameAnAccount(bytes.toString('utf8'), original)]).toEqual([
              500,
              'internal_error',
              true,
            ]);
            seen.alarmed++;
          }
        }
      }),
      { numRuns: mutationsEach, seed },
    );
    // Ensure that the run reached every outcome: some mutations were served, some were refused, some raised an alarm.
    expect(seen.served).toBeGreaterThan(mutationsEach / 20);
    expect(seen.refused).toBeGreaterThan(mutationsEach / 20);
    expect(seen.alarmed).toBeGreaterThan(0);
  });
});

it('a missing count is never served as zero', () => {
  const facts = factsInMemory(fixtureNow.recent);
  for (const count of ['events_24h', 'events_7d', 'events_window', 'labelers_active_7d', 'labelers_active_window']) {
    const artifact = fixture('recent');
    delete (artifact.counts as Record<string, unknown>)[count];
    facts.set('recent', Buffer.from(JSON.stringify(artifact)));
    expect(facts.get('/v1/labels/overview').status).toBe(503);
  }
});
