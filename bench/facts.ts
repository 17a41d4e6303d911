/**
 * Measures 200 and 304 responses for the label overview. Compares them with nginx, which serves the same bytes as a
 * static file, and with a bare node:http server, which serves them from memory. The server uses one core and wrk the
 * other. The rounds of all servers are interleaved.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { temporaryFolder } from '../harness/process/at-exit.ts';
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
  readonly ok: Load[];
  readonly notModified: Load[];
}

/**
 * Measures 200 and 304 responses of each server in `rounds` rounds of `seconds` seconds each, then the start-up time of
 * the facts API, and prints the results.
 */
async function benchFacts(rounds: number, seconds: number): Promise<void> {
  const { folder, remove } = temporaryFolder('bench');
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
    contenders.push({ name, measured, ok: [], notModified: [] });
  }
  console.log(
    `label overview: ${body.length} bytes, 64 connections, ${rounds} rounds of ${seconds} s each, interleaved`,
  );
  for (let round = 0; round < rounds; round++) {
    for (const { measured, ok, notModified } of contenders) {
      ok.push(await loadOk(measured, seconds));
      notModified.push(await loadNotModified(measured, seconds));
    }
  }
  report(contenders, '200', ({ ok }) => ok);
  report(contenders, '304', ({ notModified }) => notModified);
  console.log(`resident memory after the load: ${ours.residentMiB()} MiB (bare ${bare.residentMiB()} MiB)`);
  for (const { measured } of contenders) await measured.stop();
  await coldStart(node, bin, folder);
  remove();
}

/** Maximum number of attempts to measure a round in which the validator does not change. */
const maxAttempts = 3;

/** Measures a round of 200 responses. Rejects if a further response has a status other than 200. */
async function loadOk({ url }: Measured, seconds: number): Promise<Load> {
  const measured = load(loadCore, url + path, seconds);
  const status = await statusOf(url);
  if (status !== 200) throw new Error(`a request without a validator received the status ${status}`);
  return measured;
}

/**
 * Measures a round of 304 responses with the server's current validator. The validator of the facts API changes every
 * minute with the age bucket, so a round after which the validator no longer causes a 304 is measured again. Rejects if
 * the validator changes during each attempt.
 */
async function loadNotModified({ url }: Measured, seconds: number): Promise<Load> {
  for (let attempt = 1; attempt <= maxAttempts; attempt++) {
    const etag = (await fetch(url + path)).headers.get('etag');
    if (etag === null) throw new Error('the response has no validator');
    const headers = { 'If-None-Match': etag };
    const before = await statusOf(url, headers);
    const measured = load(loadCore, url + path, seconds, [`If-None-Match: ${etag}`]);
    if (before === 304 && (await statusOf(url, headers)) === 304) return measured;
  }
  throw new Error(`the server did not respond with 304 both before and after any of ${maxAttempts} rounds`);
}

/** Returns the status of one response, after reading its body. */
async function statusOf(url: string, headers: Readonly<Record<string, string>> = {}): Promise<number> {
  const response = await fetch(url + path, { headers });
  await response.arrayBuffer();
  return response.status;
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
