/**
 * Measures how many events per second are received from another process over a loopback websocket and counted in
 * memory. Compares the guarded socket and classifier with `@atcute/jetstream` (validation off), which only counts the
 * events. Rounds of the two clients alternate. Prints one line of JSON.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { JetstreamSubscription } from '@atcute/jetstream';
import { createNameResolver } from '../src/network/dns/name-resolver.ts';
import { openSocket } from '../src/network/websocket/websocket.ts';
import { createClassifier } from '../src/weather/classify/classify.ts';
import { metricNames } from '../src/weather/classify/metric-names.ts';
import { median } from './stats.ts';

const rounds = 5;
const events = 150_000;

async function ours(port: string): Promise<number> {
  const counts = new Float64Array(metricNames.length);
  const classify = createClassifier();
  const done = Promise.withResolvers<void>();
  let counted = 0;
  const start = performance.now();
  const socket = await openSocket(
    {
      url: `ws://127.0.0.1:${port}/`,
      policy: { allowLoopback: true },
      userAgent: 'Almanac/test',
      resolve: createNameResolver({ hostsFile: null }).resolve,
      handshakeMs: 5000,
      closeMs: 1000,
      pingMs: 30_000,
      pongMs: 10_000,
      idleMs: 10_000,
      maxFrameBytes: 1 << 20,
      onFrame(data) {
        const { outcome, metrics, metricCount } = classify(data);
        if (outcome !== 'counted') return;
        for (let i = 0; i < metricCount; i += 1) {
          const metric = metrics[i] ?? 0;
          counts[metric] = (counts[metric] ?? 0) + 1;
        }
        counted += 1;
        if (counted === events) done.resolve();
      },
    },
    new AbortController().signal,
  );
  await done.promise;
  const elapsed = performance.now() - start;
  socket.close();
  await socket.closed;
  return rate(elapsed);
}

async function atcute(port: string): Promise<number> {
  let counted = 0;
  const start = performance.now();
  const stream = new JetstreamSubscription({ url: `ws://127.0.0.1:${port}/`, validateEvents: false });
  for await (const event of stream) {
    if (event.time_us > 0) counted += 1;
    if (counted === events) break;
  }
  return rate(performance.now() - start);
}

function rate(elapsedMs: number): number {
  return Math.round((events / elapsedMs) * 1000);
}

const blaster = spawn(process.execPath, [fileURLToPath(new URL('blaster.ts', import.meta.url)), String(events)], {
  stdio: ['pipe', 'pipe', 'inherit'],
});
const port = String((await once(blaster.stdout, 'data'))[0]).trim();
const rates: { ours: number[]; atcute: number[] } = { ours: [], atcute: [] };
// The first round of each client is a warm-up.
for (let round = 0; round <= rounds; round += 1) {
  const [a, b] = [await ours(port), await atcute(port)];
  if (round === 0) continue;
  rates.ours.push(a);
  rates.atcute.push(b);
}
blaster.stdin.end();
process.stdout.write(
  `${JSON.stringify({
    bench: 'frames',
    socket_and_classifier_per_s: median(rates.ours),
    atcute_jetstream_per_s: median(rates.atcute),
    ratio: Number((median(rates.ours) / median(rates.atcute)).toFixed(2)),
    target: { per_s: 200_000, ratio: 2 },
  })}\n`,
);
