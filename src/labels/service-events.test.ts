import { expect, test } from 'vitest';
import { eventOf } from './service-events.ts';

const did = 'did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
const commit = {
  did,
  kind: 'commit',
  commit: {
    operation: 'create',
    collection: 'app.bsky.labeler.service',
    rkey: 'self',
    record: { policies: { labelValues: ['spam'], labelValueDefinitions: [{ identifier: 'spam' }], other: 1 } },
  },
};
const definitions = '{"labelValues":["spam"],"labelValueDefinitions":[{"identifier":"spam"}]}';
const changed = (over: object) => ({ ...commit, commit: { ...commit.commit, ...over } });

test.each([
  ['a new declaration', commit, { kind: 'service', did, definitions }],
  ['a changed one', changed({ operation: 'update' }), { kind: 'service', did, definitions }],
  ['one without policies', changed({ record: {} }), { kind: 'service', did, definitions: null }],
  [
    'one with endless policies',
    changed({ record: { policies: { labelValues: ['x'.repeat(300_000)] } } }),
    { kind: 'service', did, definitions: null },
  ],
  ['an identity', { did, kind: 'identity' }, { kind: 'identity', did }],
  ['one that was withdrawn', changed({ operation: 'delete' }), null],
  ['another collection', changed({ collection: 'app.bsky.feed.post' }), null],
  ['another record', changed({ rkey: 'other' }), null],
  ['an account', { did, kind: 'account' }, null],
  ['no DID', { ...commit, did: 'alice' }, null],
  ['no commit', { did, kind: 'commit' }, null],
])('%s', (_, event, expected) => {
  expect(eventOf(event)).toEqual(expected);
});
