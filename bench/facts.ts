/**
 * Measures 200 and 304 responses with the label overview. Compares them with nginx, which serves the same bytes as a
 * static file, and with a bare node:http server, which serves them from memory. The server uses one core and wrk the
 * other. The rounds of all servers are interleaved.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { artifactNames } from '../src/artifact/write.ts';
import { packageRoot } from '../src/main/command.ts';
import { startNginx } from './nginx.ts';
import { type Load, load, type Measured, startMeasured } from './processes.ts';
import { median, row, spreadPercent } from './stats.ts';

const serverCore = 0;
const loadCore = 1;
const path = '/v1/labels/overview';

interface Contender {
  readonly name: string;
  readonly measured: Measured;
  readonly validator: string;
  readonly ok: Load[];
  readonly notModified: Load[];
}

/** Measures every server and path in `rounds` rounds of `seconds` seconds each, and prints the results. */
async function benchFacts(rounds: number, seconds: number): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'almanac-bench-'));
  const root = packageRoot();
  const node = process.execPath;
  writeFileSync(join(folder, artifactNames.labels), youngOverview(root));
  const bin = join(root, 'bin', 'almanac.mjs');
  const ours = await startMeasured(serverCore, [node, bin, 'facts', '--port', '0', '--artifacts', folder]);
  const body = Buffer.from(await (await fetch(ours.url + path)).arrayBuffer());
  writeFileSync(join(folder, 'body.json'), body);
  const bare = await startMeasured(serverCore, [
    node,
    join(root, 'bench', 'bare-server.ts'),
    join(folder, 'body.json'),
  ]);
  const nginx = await startNginx(serverCore, folder, body);
  const contenders: Contender[] = [];
  for (const [name, measured] of [
    ['nginx, static file', nginx],
    ['node:http, constant', bare],
    ['almanac facts', ours],
  ] as const) {
    contenders.push({ name, measured, validator: await validatorOf(measured), ok: [], notModified: [] });
  }
  console.log(
    `label overview: ${body.length} bytes, 64 connections, ${rounds} rounds of ${seconds} s each, interleaved`,
  );
  for (let round = 0; round < rounds; round++) {
    for (const { measured, ok, validator, notModified } of contenders) {
      ok.push(load(loadCore, measured.url + path, seconds));
      notModified.push(load(loadCore, measured.url + path, seconds, [`If-None-Match: ${validator}`]));
    }
  }
  report(contenders, '200', ({ ok }) => ok);
  report(contenders, '304', ({ notModified }) => notModified);
  console.log(`resident memory after the load: ${ours.residentMiB()} MiB (bare ${bare.residentMiB()} MiB)`);
  for (const { measured } of contenders) await measured.stop();
  await coldStart(node, bin, folder);
  rmSync(folder, { recursive: true });
}

/**
 * Returns the current validator, which changes every minute with the age bucket. It is fetched only once: `*` would
 * match every response, and a real client requests the fact again after a minute.
 */
async function validatorOf(measured: Measured): Promise<string> {
  const etag = (await fetch(measured.url + path)).headers.get('etag');
  if (etag === null) throw new Error('the response has no validator');
  return etag;
}

function report(
  contenders: readonly Contender[],
  title: string,
  loads: (contender: Contender) => readonly Load[],
): void {
  const widths = [22, 10, 8, 10, 10, 9, 9];
  console.log(row([`\n${title}`, 'req/s', '± %', 'of nginx', 'of bare', 'p50 ms', 'p99 ms'], [23, ...widths.slice(1)]));
  const middle = (contender: Contender): number => median(loads(contender).map(({ perSecond }) => perSecond));
  const [nginx, bare] = contenders.map(middle);
  for (const contender of contenders) {
    const rates = loads(contender).map(({ perSecond }) => perSecond);
    const p50 = median(loads(contender).map(({ p50Ms }) => p50Ms));
    const p99 = median(loads(contender).map(({ p99Ms }) => p99Ms));
    const cells = [
      contender.name,
      Math.round(median(rates)),
      Number(spreadPercent(rates).toFixed(1)),
      (median(rates) / (nginx ?? Number.NaN)).toFixed(2),
      (median(rates) / (bare ?? Number.NaN)).toFixed(2),
      p50.toFixed(2),
      p99.toFixed(2),
    ];
    console.log(row(cells, widths));
  }
}

async function coldStart(node: string, bin: string, folder: string): Promise<void> {
  const times: number[] = [];
  for (let round = 0; round < 7; round++) {
    const started = await startMeasured(serverCore, [node, bin, 'facts', '--port', '0', '--artifacts', folder]);
    times.push(started.startedInMs);
    await started.stop();
  }
  console.log(
    `time from start to listening: median ${Math.round(median(times))} ms, worst ${Math.round(Math.max(...times))} ms of 7`,
  );
}

function youngOverview(root: string): string {
  const overview = JSON.parse(readFileSync(join(root, 'test', 'fixtures', 'labels-recent-overview.json'), 'utf8'));
  overview.generated_at = new Date().toISOString();
  overview.coverage.observed_through = overview.generated_at;
  return JSON.stringify(overview);
}

const quick = process.argv.includes('--quick');
await benchFacts(quick ? 1 : 5, quick ? 2 : 5);
