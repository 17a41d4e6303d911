import { createHash } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { startChain } from './part.ts';

const sha256 = (...parts: (string | Buffer)[]): Buffer => {
  const hash = createHash('sha256');
  for (const part of parts) hash.update(part);
  return hash.digest();
};

describe('startChain', () => {
  it('computes a digest chain over the manifest and then each row, as canonical JSON', () => {
    const chain = startChain({ b: [1, { d: 'é', c: null }], a: true });
    const first = sha256('{"a":true,"b":[1,{"c":null,"d":"é"}]}');
    expect([chain.count, chain.sha256]).toEqual([0, first.toString('hex')]);
    expect(chain.add({ value: 'spam', cid: 'x' })).toBe('{"cid":"x","value":"spam"}');
    expect([chain.count, chain.sha256]).toEqual([1, sha256(first, '{"cid":"x","value":"spam"}').toString('hex')]);
  });
});
