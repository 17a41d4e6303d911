import { describe, expect, it } from 'vitest';
import type { Readable } from '../artifact/reading.ts';
import type { Representation } from './representation.ts';
import { type FactResource, keepOne, oncePer, refusing } from './resources.ts';

const readable = (artifact: string): Readable<string> => ({ kind: 'readable', artifact, digest: '', modifiedAt: 0 });

describe('the cache of one representation', () => {
  /** Creates a cache with a build function that records its inputs. */
  function keeping() {
    const built: string[] = [];
    const representationOf = keepOne<string>(({ artifact }, bucket, now) => {
      built.push(`${artifact} in bucket ${bucket} at ${now}`);
      if (artifact === 'broken') throw new Error('broken');
      return { etag: String(built.length) } as Representation;
    });
    return { built, representationOf };
  }

  it('builds a representation once for each artifact and bucket', () => {
    const { built, representationOf } = keeping();
    const one = readable('one');
    expect(representationOf(one, 1, 100)).toBe(representationOf(one, 1, 159));
    expect(built).toEqual(['one in bucket 1 at 100']);
  });

  it('builds a new representation for a different artifact, a different bucket, or an instant before the previous instant', () => {
    const { built, representationOf } = keeping();
    const [one, two] = [readable('one'), readable('two')];
    representationOf(one, 1, 100);
    representationOf(two, 1, 100);
    representationOf(two, 2, 100);
    representationOf(two, 2, 99);
    expect(built).toEqual([
      'one in bucket 1 at 100',
      'two in bucket 1 at 100',
      'two in bucket 2 at 100',
      'two in bucket 2 at 99',
    ]);
  });

  it('does not repeat a failed build', () => {
    const { built, representationOf } = keeping();
    const broken = readable('broken');
    for (let i = 0; i < 3; i++) expect(() => representationOf(broken, 1, 100)).toThrow('broken');
    expect(built).toHaveLength(1);
  });
});

it('oncePer computes a value again only for a different object', () => {
  let computed = 0;
  const lengthOf = oncePer(({ text }: { readonly text: string }) => {
    computed += 1;
    return text.length;
  });
  const [a, b] = [{ text: 'a' }, { text: 'bb' }];
  expect([lengthOf(a), lengthOf(a), lengthOf(b), computed]).toEqual([1, 1, 2, 2]);
});

it('a fact that cannot be built is refused, and each failure raises one alarm', () => {
  const alarms: unknown[] = [];
  let error = new Error('first');
  const failing: FactResource = () => {
    throw error;
  };
  const resource = refusing(failing, (one) => alarms.push(one));
  expect([resource(1), resource(2)]).toEqual(Array(2).fill({ kind: 'refused', code: 'internal_error' }));
  error = new Error('second');
  resource(3);
  expect(alarms.map(String)).toEqual(['Error: first', 'Error: second']);
});
