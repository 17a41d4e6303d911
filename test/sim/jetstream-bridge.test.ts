import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { WebSocketServer } from 'ws';
import { type JetstreamBridge, parseFirehoseFrame, startJetstreamBridge } from '../../harness/ozone/firehose.ts';
import { root } from '../../harness/process/imports.ts';
import { until } from '../../harness/process/until.ts';
import { subscribe } from '../../harness/sim/consumer.ts';

const fixtures = join(root, 'test', 'fixtures', 'jetstream');
const frames = readFrames();
const served = readFileSync(join(fixtures, 'production_v1.jsonl'), 'utf8').trim().split('\n').map(readEvent);

/** An event as a Jetstream served it in the legacy format, with the property that is named after its kind. */
interface ServedEvent {
  readonly did: string;
  readonly kind: string;
  readonly body: Readonly<Record<string, unknown>>;
}

function readFrames(): Buffer[] {
  const bytes = readFileSync(join(fixtures, 'firehose_frames.bin'));
  const found: Buffer[] = [];
  for (let at = 0; at < bytes.length; ) {
    const end = at + 4 + bytes.readUInt32LE(at);
    found.push(bytes.subarray(at + 4, end));
    at = end;
  }
  return found;
}

function readEvent(line: string): ServedEvent {
  const event = JSON.parse(line) as { readonly did: string; readonly kind: string } & Record<string, never>;
  const { did, kind, [kind]: body = {} } = event;
  return { did, kind, body };
}

/** Returns the recorded event that a production Jetstream served for an event, or undefined if it served none. */
function servedFor({ did, kind, body }: ServedEvent): ServedEvent | undefined {
  return served.find(
    (one) => one.did === did && one.kind === kind && one.body.rev === body.rev && one.body.rkey === body.rkey,
  );
}

let host: WebSocketServer;
let bridge: JetstreamBridge;

beforeEach(async () => {
  host = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  host.on('connection', (socket) => {
    for (const frame of frames) socket.send(frame);
  });
  await once(host, 'listening');
  const address = host.address();
  if (address === null || typeof address === 'string') throw new Error('the host has no port');
  bridge = await startJetstreamBridge(`http://127.0.0.1:${address.port}`);
  await until('all frames', () => bridge.seq === 31_527_015_471);
});

afterEach(async () => {
  await bridge.stop();
  host.close();
});

it('the bridge converts recorded frames of a firehose to the events that a production Jetstream served for them', () => {
  const events = JSON.parse(JSON.stringify(bridge.events)) as ServedEvent[];
  expect(events.map(({ kind, body }) => body.operation ?? kind)).toEqual([
    ...['create', 'create', 'update', 'create', 'create', 'create', 'delete', 'identity', 'account'],
  ]);
  expect(events).toEqual(events.map(servedFor));
});

it('the bridge serves events by kind and collection in the format of subscribeEvents', async () => {
  const method = `${bridge.url}/xrpc/network.bsky.jetstream.subscribeEvents`;
  const kinds = ['commit', 'identity', 'account'];
  const consumer = await subscribe(method, { kinds, collections: 'app.bsky.feed.like', cursor: '1' });
  await consumer.received(3);
  await consumer.close();
  const messages = consumer.frames.map((frame) => JSON.parse(frame) as Record<'$type' | 'payload', unknown>);
  const stamp = expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/) as string;
  const [like, identity, account] = bridge.events.filter(
    ({ kind, body }) => kind !== 'commit' || body.collection === 'app.bsky.feed.like',
  );
  const message = (kind: string, did: string | undefined, seq: number, inner: object) => ({
    $type: 'message',
    payload: {
      $type: `network.bsky.jetstream.subscribeEvents#${kind}`,
      ...{ did, seq, time: stamp, witnessedAt: stamp },
      ...inner,
    },
  });
  expect(messages).toEqual([
    message('commit', like?.did, 2, JSON.parse(JSON.stringify(like?.body)) as object),
    message('identity', identity?.did, 8, { identity: identity?.body }),
    message('account', account?.did, 9, { account: account?.body }),
  ]);
});

it('the bridge refuses an error frame of the firehose', () => {
  // {"op": -1}, {"error": "FutureCursor"}
  const frame = Buffer.from('a1626f7020a1656572726f726c467574757265437572736f72', 'hex');
  expect(() => parseFirehoseFrame(frame)).toThrow('FutureCursor');
});
