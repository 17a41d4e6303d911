import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ArtifactFixture, artifactFixtures, fixture } from '../../harness/artifacts/fixtures.ts';
import { factsInMemory, factsOf, fixtureNow } from '../../harness/process/facts.ts';

/** Tests that publication works by an allow-list: additional data in an artifact is never served, at any depth. */

const names = Object.keys(artifactFixtures) as ArtifactFixture[];

type Path = (string | number)[];

/** Returns the paths of all objects in a value, including the value itself. */
function objectPaths(value: unknown, path: Path = []): Path[] {
  if (Array.isArray(value)) return value.flatMap((member, index) => objectPaths(member, [...path, index]));
  if (typeof value !== 'object' || value === null) return [];
  return [path, ...Object.entries(value).flatMap(([key, member]) => objectPaths(member, [...path, key]))];
}

function at(value: unknown, path: Path): Record<string, unknown> {
  let found = value;
  for (const step of path) found = (found as Record<string | number, unknown>)[step];
  return found as Record<string, unknown>;
}

/**
 * Returns true for an object whose keys are data. A separate rule drops an unknown key of such an object, or counts it
 * under `unknown`.
 */
function isMap(path: Path): boolean {
  const joined = path.join('.');
  return /^(?:alerts_by_rule_\w+|census\.\w+)$/.test(joined);
}

const poisonValue = fc.oneof(
  fc.constant('poison'),
  fc.constant(66613666),
  fc.constant({ poison: 'poison', did: 'did:plc:ar7c4by46qjdydhdevvrndac' }),
  fc.constant(['poison', 'at://poison.example/app.bsky.feed.post/3poison']),
  fc.constant(null),
  fc.constant(true),
);

const poisonKey = fc.oneof(
  fc.constantFrom(
    'poison',
    'Poison Key',
    'did:plc:ar7c4by46qjdydhdevvrndac',
    'internal_error',
    'facts',
    'error',
    'path',
  ),
  fc.constantFrom('schema2', 'db_path', 'secret', 'subjects', 'uri', '__proto__', 'constructor', 'toJSON', 'toString'),
  fc.stringMatching(/^zz_[a-z]{1,12}$/),
);

function served(name: ArtifactFixture, artifact: object): string[] {
  const facts = factsInMemory(fixtureNow[name]);
  facts.set(name, Buffer.from(JSON.stringify(artifact)));
  return factsOf[name].map((path) => {
    const { status, body } = facts.get(path);
    return `${status} ${body?.toString('utf8')}`;
  });
}

describe.each(names)('the %s artifact', (name) => {
  const clean = served(name, fixture(name));
  const places = objectPaths(fixture(name)).filter((path) => !isMap(path));

  it('is served if it has no unknown fields', () => {
    for (const answer of clean) expect(answer).toMatch(/^200 /);
  });

  it('leads to unchanged responses if unknown fields are added at every level', () => {
    const artifact = fixture(name);
    for (const path of places)
      Object.assign(at(artifact, path), { poison: 'poison', zz_secret: { poison: ['poison'] } });
    expect(served(name, artifact)).toEqual(clean);
  });

  it('leads to unchanged responses if any unknown field is added at any level', () => {
    fc.assert(
      fc.property(fc.constantFrom(...places), poisonKey, poisonValue, (path, key, value) => {
        const artifact = fixture(name);
        const place = at(artifact, path);
        // Skip a name that already exists, because it is not an unknown field.
        fc.pre(!Object.hasOwn(place, key));
        Object.defineProperty(place, key, { value, enumerable: true });
        expect(served(name, artifact)).toEqual(clean);
      }),
      { numRuns: 1500 },
    );
  });
});

describe('maps whose keys are data', () => {
  it('publish only keys in their vocabulary', () => {
    fc.assert(
      fc.property(
        fc.constantFrom('alerts_by_rule_24h', 'alerts_by_rule_7d', 'visibility_class', 'auditability'),
        fc.oneof(
          fc.constantFrom('Poison Key', 'POISON', 'did:plc:ar7c4by46qjdydhdevvrndac', '__proto__', ''),
          fc.string(),
        ),
        (map, key) => {
          fc.pre(!/^[a-z][a-z0-9_]{0,63}$/.test(key));
          const artifact = fixture('legacy');
          const place = at(artifact, map.startsWith('alerts') ? [map] : ['census', map]);
          Object.defineProperty(place, key, { value: 3, enumerable: true, configurable: true });
          const [answer = ''] = served('legacy', artifact);
          expect(answer).toMatch(/^200 /);
          const { facts } = JSON.parse(answer.slice(4));
          const published = map.startsWith('alerts') ? facts[map] : facts.census[map];
          expect(Object.keys(published)).not.toContain(key);
        },
      ),
      { numRuns: 300 },
    );
  });
});
