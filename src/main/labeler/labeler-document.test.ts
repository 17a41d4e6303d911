import { expect, test } from 'vitest';
import { labelerDocument } from '../../../harness/labels/labeler-document.ts';
import { fetchLabeler, findLabeler } from './labeler-document.ts';

/**
 * A handle identifies a labeler only if the service has confirmed it, because any DID document can claim any handle.
 */

const owner = 'did:plc:ewvi7nxzyoun6zhxrhs64oiz';
const impostor = 'did:web:impostor.example.com';

async function found(handle: string, labelers: unknown) {
  const fetch = () => Promise.resolve(Response.json({ facts: { labelers } }));
  return findLabeler(handle, { base: 'http://facts.example.com', fetch, timeoutMs: 1_000, clock: Date.now });
}

const claimed = (did: string, name: string, confirmed: boolean) => ({ did, handle: { name, confirmed } });

test('the handle look-up finds the labeler with the confirmed handle, even if a different labeler claims the same handle', async () => {
  const list = [claimed(impostor, 'mod.example.com', false), claimed(owner, 'Mod.Example.com', true)];
  expect(await found('mod.example.com', list)).toBe(owner);
});

test('the handle look-up rejects a handle that is only claimed, and names the labelers that claim it', async () => {
  const list = [claimed(impostor, 'mod.example.com', false), { did: owner, handle: null }];
  expect(await found('mod.example.com', list)).toMatchObject({
    kind: 'unknown',
    why: expect.stringContaining(impostor),
  });
  expect(await found('other.example.com', list)).toMatchObject({ kind: 'unknown' });
});

test('the handle look-up rejects a handle that two labelers have confirmed, and a response without a list', async () => {
  const twice = [claimed(owner, 'mod.example.com', true), claimed(impostor, 'mod.example.com', true)];
  const claim = claimed('did:web:third.example.com', 'mod.example.com', false);
  expect(await found('mod.example.com', [...twice, claim])).toEqual({
    kind: 'unknown',
    why: `the handle mod.example.com is confirmed for each of ${owner}, ${impostor}; give the DID instead of the handle`,
  });
  expect(await found('mod.example.com', 'none')).toMatchObject({ kind: 'refused' });
});

test.each([
  ['built longer ago than caches may keep it', 181, {}, 'built 181 s ago'],
  ['of an artifact that the service refuses by now', 100, { age_seconds: 861 }, 'the artifact is 961 s old'],
])('a document that a cache repeats is not shown if it is %s', async (_what, seconds, fields, why) => {
  const document = { ...labelerDocument(owner), ...fields };
  const headers = { 'Cache-Control': 'public, max-age=60' };
  const request = (elapsed: number) => ({
    base: 'http://facts.example.com',
    fetch: () => Promise.resolve(Response.json(document, { headers })),
    timeoutMs: 1_000,
    clock: () => Date.parse(document.retrieved_at) + elapsed * 1000,
  });
  expect(await fetchLabeler(owner, request(seconds - 1))).toMatchObject({ kind: 'document' });
  expect(await fetchLabeler(owner, request(seconds))).toEqual({
    kind: 'refused',
    why: expect.stringContaining(why),
  });
  const list = { ...document, facts: { labelers: [claimed(owner, 'mod.example.com', true)] } };
  const listed = { ...request(seconds), fetch: () => Promise.resolve(Response.json(list, { headers })) };
  expect(await findLabeler('mod.example.com', listed)).toMatchObject({ kind: 'refused' });
});
