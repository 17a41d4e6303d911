import { describe, expect, it } from 'vitest';
import { createEventsClassifier, ResyncMemory } from './classify-events.ts';

import { metricNames } from './metric-names.ts';

const nsid = 'network.bsky.jetstream.subscribeEvents';
const time = '2026-08-13T06:47:43.959305Z';
const timeUs = Date.parse('2026-08-13T06:47:43Z') * 1000 + 959_305;

function reader() {
  const classify = createEventsClassifier(new ResyncMemory(7));
  return (frame: string | object) => {
    const {
      outcome,
      notice,
      timeUs: at,
      seq,
      metrics,
      metricCount,
    } = classify(Buffer.from(typeof frame === 'string' ? frame : JSON.stringify(frame)));
    const names = Array.from(metrics.subarray(0, metricCount), (index) => metricNames[index]);
    return { outcome, notice, timeUs: at, seq, metrics: names };
  };
}

function message(kind: string, rest: object) {
  return { $type: 'message', payload: { $type: `${nsid}#${kind}`, did: 'did:plc:a', seq: 7, time, ...rest } };
}

function like(rest: object = {}) {
  return message('commit', { operation: 'create', collection: 'app.bsky.feed.like', record: {}, ...rest });
}

describe('frames of the subscribeEvents method', () => {
  it('are parsed with their sequence number and their time in microseconds', () => {
    const read = reader();
    const create = `{"$type":"message","payload":{"$type":"${nsid}#commit","cid":"bafyreigwnxqttkhzha2ig4io6wwht3qiugtor4ruglceyfdbnyq53a55fe","collection":"app.bsky.graph.follow","did":"did:plc:7e6kocyzb77xkncplrkoojej","operation":"create","record":{"$type":"app.bsky.graph.follow","createdAt":"2026-08-13T06:47:44.859Z","subject":"did:plc:gdcz3s2rofr4bbom5bx3kqrr"},"rev":"3msx2efqjtc27","rkey":"3msx2efqdxs27","seq":24664288881,"time":"${time}","witnessedAt":"${time}"}}`;
    const remove = `{"$type":"message","payload":{"$type":"${nsid}#commit","collection":"app.bsky.graph.follow","did":"did:plc:a","operation":"delete","rev":"3msx2efqk2c27","rkey":"3msx2eaaaas27","seq":24664288882,"time":"2026-08-13T06:47:43.960100Z"}}`;
    expect(read(create)).toEqual({
      outcome: 'counted',
      notice: 'none',
      timeUs,
      seq: 24_664_288_881,
      metrics: ['follow.create'],
    });
    expect(read(remove)).toMatchObject({ timeUs: timeUs + 795, seq: 24_664_288_882, metrics: ['follow.delete'] });
    expect(read(message('identity', { identity: { seq: 3, time: 'x' } }))).toMatchObject({
      seq: 7,
      metrics: ['identity.event'],
    });
    expect(read(message('account', { account: { active: true, status: 'throttled' } })).metrics).toEqual([
      'account.event',
      'account.active.true',
      'account.status.other',
    ]);
    expect(read(message('sync', { sync: { seq: 17, time: 'x' } })).metrics).toEqual(['sync.event']);
  });

  it('do not count as events if they are notices of the host', () => {
    const read = reader();
    const info = (name: string) => read({ $type: 'message', payload: { $type: `${nsid}#info`, name } });
    expect(info('FutureCursor')).toMatchObject({ outcome: 'notice', notice: 'future_cursor' });
    expect(info('OutdatedCursor')).toMatchObject({ outcome: 'notice', notice: 'outdated_cursor' });
    expect(read({ $type: 'error', error: 'ConsumerTooSlow' })).toMatchObject({ outcome: 'notice', notice: 'too_slow' });
    expect(read({ $type: 'error', error: 'InternalError' })).toMatchObject({ outcome: 'notice', notice: 'error' });
    expect(read({ $type: 'weather' })).toMatchObject({ outcome: 'notice', notice: 'unknown' });
  });

  it('of unknown kinds are events if they have a number and a time, and notices if they have neither', () => {
    const read = reader();
    expect(read(message('poll', {}))).toMatchObject({ outcome: 'counted', metrics: ['unclassified.kind'] });
    expect(read({ $type: 'message', payload: { $type: `${nsid}#poll` } })).toMatchObject({ outcome: 'notice' });
  });

  it.each([
    {},
    { $type: 'message' },
    { $type: 'message', payload: [] },
    { payload: like().payload },
    like({ seq: 0 }),
    like({ seq: '7' }),
    like({ time: '2026-02-30T06:47:43.959305Z' }),
    like({ time: '2026-08-13T06:47:43.959305' }),
    like({ time: '2026-08-13 06:47:43.959305Z' }),
    like({ time: 7 }),
  ])('are malformed without a valid number, time or type (%j)', (frame) => {
    expect(reader()(frame).outcome).toBe('no_time_us');
  });

  it('are parse errors if they are truncated at any length', () => {
    const read = reader();
    const text = JSON.stringify(like());
    for (let length = 0; length < text.length; length += 1)
      expect(read(text.slice(0, length)).outcome).toBe('parse_error');
  });
});

describe('the rows that repeat a repository after a sync', () => {
  it('are distinguished from other events by account, time and operation', () => {
    const read = reader();
    const later = '2026-08-13T06:47:50.000000Z';
    expect(read(message('sync', {})).outcome).toBe('counted');
    expect(read(like()).outcome).toBe('resync');
    expect(read(like({ operation: 'delete' })).outcome).toBe('counted');
    expect(read(like({ operation: 'update' })).outcome).toBe('counted');
    expect(read(like({ did: 'did:plc:b' })).outcome).toBe('counted');
    expect(read(like({ time: later, witnessedAt: later })).outcome).toBe('counted');
    expect(read(like({ seq: 900 }))).toMatchObject({ outcome: 'resync', seq: 900, metrics: [] });
  });

  it('follow a sync that the host has made itself, which has no number of a relay and is no event', () => {
    const read = reader();
    expect(read(message('sync', { sync: { blocks: '', rev: '3', seq: 0, time: '' } }))).toMatchObject({
      outcome: 'resync',
      seq: 7,
      metrics: [],
    });
    expect(read(like()).outcome).toBe('resync');
    for (const seq of [1, 10, '0', null]) expect(read(message('sync', { sync: { seq } })).outcome).toBe('counted');
  });

  it('are detected by their old time if the sync was not read, except for the first row of an account at that time if witnessedAt is missing', () => {
    const read = reader();
    const old = '2026-08-13T05:00:00.000000Z';
    expect(read(like()).outcome).toBe('counted');
    expect(read(like({ time: old, witnessedAt: old })).outcome).toBe('resync');
    const unwitnessed = like({ did: 'did:plc:c', time: old });
    expect([read(unwitnessed).outcome, read(unwitnessed).outcome]).toEqual(['counted', 'resync']);
  });
});
