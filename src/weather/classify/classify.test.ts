import { describe, expect, it } from 'vitest';
import { createClassifier } from './classify.ts';
import { metricNames } from './metric-names.ts';

const classify = createClassifier();

/** Classifies a frame. Returns the outcome, followed by the metrics if the frame is counted. */
function read(text: string | Uint8Array): string {
  const { outcome, metrics, metricCount } = classify(typeof text === 'string' ? Buffer.from(text) : text);
  const names = Array.from(metrics.subarray(0, metricCount), (index) => metricNames[index]);
  return [...(outcome === 'counted' ? [] : [outcome]), ...names].join(' ');
}

function commit(commit: unknown): string {
  return read(JSON.stringify({ did: 'did:plc:x', time_us: 1, kind: 'commit', commit }));
}

function post(record: unknown, operation = 'create'): string {
  return commit({ operation, collection: 'app.bsky.feed.post', record });
}

function account(account: unknown): string {
  return read(JSON.stringify({ time_us: 1, kind: 'account', account }));
}

describe('a classified commit', () => {
  it('is counted by collection and operation', () => {
    expect(commit({ operation: 'update', collection: 'app.bsky.actor.status', record: {} })).toBe(
      'actor_status.update',
    );
    expect(commit({ operation: 'delete', collection: 'app.bsky.graph.listitem' })).toBe('listitem.delete');
  });

  it('is counted as malformed, unclassified or untracked if its operation or its collection is missing or unknown', () => {
    expect(commit('x')).toBe('malformed.commit');
    expect(commit([])).toBe('malformed.commit');
    expect(read('{"time_us":1,"kind":"commit"}')).toBe('malformed.commit');
    expect(commit({ operation: 'upsert' })).toBe('unclassified.operation');
    expect(commit({ collection: 'app.bsky.feed.like' })).toBe('unclassified.operation');
    expect(commit({ operation: 'create' })).toBe('malformed.collection');
    expect(commit({ operation: 'create', collection: '' })).toBe('malformed.collection');
    expect(commit({ operation: 'create', collection: ['app.bsky.feed.like'] })).toBe('malformed.collection');
    expect(commit({ operation: 'create', collection: 'app.bsky.feed.likes' })).toBe('untracked.collection');
  });

  it('is counted by the shapes of its record if it is a post', () => {
    const quoted = { $type: 'app.bsky.embed.record' };
    expect(post({ reply: { parent: {} } })).toBe('post.create post.create.reply');
    expect(post({ reply: {}, embed: quoted }, 'update')).toBe(
      'post.update post.update.reply post.update.quote post.update.embed.record',
    );
    expect(post({ embed: { $type: 'app.bsky.embed.recordWithMedia' } })).toBe(
      'post.create post.create.quote post.create.embed.recordWithMedia',
    );
    expect(post({ embed: { $type: 'app.bsky.embed.gallery' } })).toBe('post.create post.create.embed.gallery');
    expect(post({ embed: { $type: 'x' } })).toBe('post.create post.create.embed.other');
    expect(post({ embed: {} })).toBe('post.create post.create.embed.other');
  });

  it('has the shapes of a post even if the record precedes the collection', () => {
    const record = { reply: {}, embed: { $type: 'app.bsky.embed.images' } };
    const collection = 'app.bsky.feed.post';
    const shapes = 'post.create post.create.reply post.create.embed.images';
    expect(commit({ operation: 'create', record, collection })).toBe(shapes);
    const twice = `"collection":"app.bsky.feed.like","record":${JSON.stringify(record)},"collection":"${collection}"`;
    expect(read(`{"time_us":1,"kind":"commit","commit":{"operation":"create",${twice}}}`)).toBe(shapes);
  });

  it('has no shapes if it is a delete, is in a collection without shapes, or has a record without a valid reply or embed', () => {
    for (const record of [null, [], 'x', { reply: 'x', embed: [] }, { reply: null, embed: null }, { reply: [{}] }]) {
      expect(post(record)).toBe('post.create');
    }
    expect(post({ reply: {}, embed: {} }, 'delete')).toBe('post.delete');
    expect(commit({ operation: 'create', collection: 'app.bsky.feed.like', record: { reply: {} } })).toBe(
      'like.create',
    );
  });
});

it('the classifier counts accounts by activity and status, counts identities and syncs once, and counts other kinds as unclassified', () => {
  expect(account({ active: true })).toBe('account.event account.active.true');
  expect(account({ active: false, status: 'takendown' })).toBe(
    'account.event account.active.false account.status.takendown',
  );
  expect(account({ active: 'true', status: 'throttled' })).toBe(
    'account.event account.active.unknown account.status.other',
  );
  expect(account({ active: null, status: '' })).toBe('account.event account.active.unknown');
  expect(account('x')).toBe('account.event account.active.unknown');
  expect(read('{"time_us":1,"kind":"identity","identity":{"handle":"x"}}')).toBe('identity.event');
  expect(read('{"time_us":1,"kind":"sync","sync":{"rev":"x"}}')).toBe('sync.event');
  for (const kind of ['syncs', '', null, 1, ['commit']]) {
    expect(read(JSON.stringify({ time_us: 1, kind, commit: {} }))).toBe('unclassified.kind');
  }
});

it('the time of a frame is usable only if it is a positive integer literal below 2^53', () => {
  for (const time of [
    '0',
    '-1',
    '-0',
    '1.0',
    '1e3',
    '1e400',
    '9007199254740992',
    '18014398509481984',
    '"1"',
    'true',
    'null',
    '[1]',
  ]) {
    expect(read(`{"kind":"identity","time_us":${time}}`)).toBe('no_time_us');
  }
  for (const text of ['{}', '[]', '1', '"x"', 'null', 'true', ' [1, {"time_us": 1}] '])
    expect(read(text)).toBe('no_time_us');
  expect(classify(Buffer.from('{"kind":"identity","time_us":9007199254740991}')).timeUs).toBe(Number.MAX_SAFE_INTEGER);
});

it('the classifier reads the cursor of Jetstream v2, or returns null if the frame has no cursor', () => {
  const seqOf = (cursor: string): number | null =>
    classify(Buffer.from(`{"time_us":1${cursor},"kind":"identity"}`)).seq;
  expect(seqOf(',"cursor":31527015322')).toBe(31_527_015_322);
  expect(['', ',"cursor":"7"', ',"cursor":0', ',"cursor":1.5', ',"cursor":null'].map(seqOf)).toEqual(
    Array(5).fill(null),
  );
});

it('the classifier accepts keys and values with escapes, and white space between them', () => {
  expect(
    read(
      '\t{ "\\u006bind" : "\\u0063ommit" ,\r\n"\\u0074ime\\u005fus":1,"comm\\u0069t":{"\\u006fperation":"\\u0063reate",' +
        '"collection":"app\\u002Ebsky.feed.post","record":{"\\u0072eply":{},"embed":{"\\u0024type":"app.bsky.embed.vide\\u006F"}}}} ',
    ),
  ).toBe('post.create post.create.reply post.create.embed.video');
});

it('the classifier uses the last of several equal keys, and ignores the values of the earlier keys', () => {
  const first = '"commit":{"operation":"create","collection":"app.bsky.feed.post","record":{"reply":{},"embed":{}}}';
  expect(read(`{"time_us":1,"kind":"commit",${first},"commit":{"operation":"delete"}}`)).toBe('malformed.collection');
  expect(read(`{"time_us":1,"kind":"commit",${first},"commit":null}`)).toBe('malformed.commit');
  expect(read(`{"time_us":1,"kind":"commit",${first.slice(0, -1)},"record":{}}}`)).toBe('post.create');
  expect(read('{"time_us":1,"kind":"account","account":{"active":true,"status":"x"},"account":{}}')).toBe(
    'account.event account.active.unknown',
  );
  expect(read(`{"time_us":1,"kind":"identity",${first},"kind":"commit"}`)).toBe(
    'post.create post.create.reply post.create.embed.other',
  );
  expect(read('{"time_us":1,"kind":"identity","time_us":"1"}')).toBe('no_time_us');
});

it('the classifier ignores keys with an expected name at an unexpected level', () => {
  const inner =
    '{"time_us":5,"kind":"commit","cursor":9,"operation":"delete","collection":"app.bsky.feed.like","embed":{}}';
  const frame = `{"x":${inner},"time_us":1,"kind":"commit","commit":{"x":${inner},"operation":"create","collection":"app.bsky.feed.post","record":{"x":${inner},"embed":{"x":${inner}}}}}`;
  expect(read(frame)).toBe('post.create post.create.embed.other');
  expect(classify(Buffer.from(frame))).toMatchObject({ timeUs: 1, seq: null });
});

it('the classifier rejects a frame that is not JSON, even if the error follows all counted values', () => {
  const frame = '{"time_us":1,"kind":"identity","x":[1,"y"]}';
  expect(read(frame)).toBe('identity.event');
  for (const text of [
    '',
    ' ',
    '{',
    '{]',
    '[1,]',
    '{"a":1,}',
    "{'a':1}",
    '{a:1}',
    '01',
    '+1',
    '.5',
    '1.',
    '1e',
    '-',
    'tru',
    'nulll',
  ]) {
    expect(read(text)).toBe('parse_error');
  }
  for (const text of [
    `${frame}x`,
    `${frame}{}`,
    `${frame}\0`,
    `\ufeff${frame}`,
    frame.replace('y', '\n'),
    frame.replace('y', '\\x'),
  ]) {
    expect(read(text)).toBe('parse_error');
  }
  expect(read(Buffer.from('{"time_us":1,"kind":"identity","x":"\xff\xc3"}', 'latin1'))).toBe('identity.event');
});

it('the classifier accepts nesting of 100,000 levels', () => {
  const deep = (open: string, close: string, depth: number): string =>
    `{"time_us":1,"kind":"identity","x":${open.repeat(depth)}1${close.repeat(depth)}}`;
  expect(read(deep('[', ']', 100_000))).toBe('identity.event');
  expect(read(deep('{"kind":', '}', 100_000))).toBe('identity.event');
  expect(read(deep('[{"x":', '}]', 50_000))).toBe('identity.event');
  expect(read(deep('[', '}', 100_000))).toBe('parse_error');
  expect(read(`${'['.repeat(100_000)}`)).toBe('parse_error');
});

it('the classifier returns only numbers and fixed words, in one object that it reuses', () => {
  const facts = classify(Buffer.from('{"time_us":7,"kind":"identity","did":"did:plc:x","cursor":3}'));
  expect({ ...facts, metrics: [...facts.metrics.subarray(0, facts.metricCount)] }).toEqual({
    outcome: 'counted',
    notice: 'none',
    timeUs: 7,
    seq: 3,
    creates: false,
    metrics: [metricNames.indexOf('identity.event')],
    metricCount: 1,
  });
  expect(facts.metrics.length).toBe(4);
  expect(classify(Buffer.from('no'))).toBe(facts);
  expect(facts).toMatchObject({ outcome: 'parse_error', timeUs: 0, seq: null, metricCount: 0 });
});
