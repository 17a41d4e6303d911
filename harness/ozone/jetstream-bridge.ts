import { once } from 'node:events';
import { WebSocket } from 'ws';
import { JetstreamServer } from '../../sim/jetstream/server.ts';
import { Truth } from '../../sim/truth.ts';
import { type FirehoseEvent, parseFirehoseFrame } from './firehose.ts';
import { FirehoseSource } from './firehose-source.ts';

/** A Jetstream on a loopback address that serves the events of one real host of accounts. */
export interface JetstreamBridge {
  /** Address of the host, without a path. */
  readonly url: string;
  /** All events of the host so far, oldest first. */
  readonly events: readonly FirehoseEvent[];
  /** Sequence number of the last frame from the host of accounts. */
  readonly seq: number;
  /** Number of connected consumers. */
  readonly consumers: number;
  stop(): Promise<void>;
}

/** Subscribes to a host's `com.atproto.sync.subscribeRepos` from its first event, and serves the events as a Jetstream. */
export async function startJetstreamBridge(host: string): Promise<JetstreamBridge> {
  const source = new FirehoseSource();
  const nowUs = (): number => Date.now() * 1000;
  const server = new JetstreamServer({
    ...{ host: '127.0.0.1', port: 0, source, truth: new Truth(source), nowUs },
    ...{
      seqCursors: true,
      hasMethod: true,
      zstdDictionary: null,
      compactedShare: 0,
      announcesFuture: true,
      patienceMs: 5_000,
    },
  });
  const port = await server.start();
  const upstream = new WebSocket(`${host.replace('http', 'ws')}/xrpc/com.atproto.sync.subscribeRepos?cursor=0`);
  let last = 0;
  upstream.on('message', (data: Buffer) => {
    const { seq, events } = parseFirehoseFrame(data);
    for (const event of events) source.append(event, nowUs());
    last = seq ?? last;
  });
  await once(upstream, 'open');
  return {
    url: `ws://127.0.0.1:${port}`,
    events: source.events,
    get seq() {
      return last;
    },
    get consumers() {
      return server.connections.length;
    },
    async stop() {
      upstream.terminate();
      await server.stop();
    },
  };
}
