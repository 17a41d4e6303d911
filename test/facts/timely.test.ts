import { Agent, get } from 'node:http';
import type { Socket } from 'node:net';
import { expect, it } from 'vitest';
import { longestIssues, now, year, yearOf } from '../../harness/archive/archived-year.ts';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { exchange, opened } from '../../harness/net/raw-http.ts';
import { memoryMib } from '../../harness/process/process-tree.ts';
import type { Program } from '../../harness/process/program.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { factsCommonHeaders } from '../../src/facts/app.ts';
import { archivePage } from '../../src/facts/archive/archive-page.tsx';

/** Proofs that the facts process responds, renders and stops in time, which depends on the speed of the machine. */

const plain = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n';

function startFacts(): Program {
  return startProgramInTest(['facts', '--port', '0', '--artifacts', artifactFolderInTest()]);
}

/** Requests the overview from the server on a port. */
function read(agent: Agent, port: number): Promise<{ status: number | undefined; ms: number }> {
  const started = performance.now();
  return new Promise((resolve, reject) => {
    get(`http://127.0.0.1:${port}/v1/labels/overview`, { agent }, (response) => {
      response.resume().on('error', reject);
      response.on('end', () => resolve({ status: response.statusCode, ms: performance.now() - started }));
    }).on('error', reject);
  });
}

it('a facts process responds to a reader despite 10,000 idle and 200 slow connections', async () => {
  const program = startFacts();
  const { port } = await program.listening();
  const sockets: Socket[] = [];
  for (let at = 0; at < 10_200; at += 200) {
    sockets.push(...(await Promise.all(Array.from({ length: 200 }, () => opened(port)))));
  }
  for (const socket of sockets) socket.on('error', () => undefined).resume();
  const slow = sockets.slice(10_000);
  const letters = plain.slice(0, -4);
  let sent = 0;
  const drip = setInterval(() => {
    for (const socket of slow) socket.write(letters.charAt(sent % letters.length));
    sent++;
  }, 1_000);
  const agent = new Agent({ keepAlive: true, maxSockets: 4 });
  const slowest: number[] = [];
  try {
    await until('three bytes of each slow connection', async () => {
      const answers = await Promise.all(Array.from({ length: 20 }, () => read(agent, port)));
      expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
      slowest.push(Math.max(...answers.map(({ ms }) => ms)));
      return sent >= 3;
    });
    expect(sockets.filter((socket) => socket.destroyed || socket.readableEnded)).toEqual([]);
    expect(Math.max(...slowest)).toBeLessThan(2_000);
    expect(memoryMib(program.child.pid, 'VmRSS')).toBeLessThan(400);
  } finally {
    clearInterval(drip);
    agent.destroy();
    for (const socket of sockets) socket.destroy();
  }
});
it('a facts process exits within 2 s if it is idle', async () => {
  const program = startFacts();
  await program.listening();
  const started = performance.now();
  program.child.kill('SIGTERM');
  expect(await program.ended()).toBe(0);
  expect(performance.now() - started).toBeLessThan(2_000);
  expect(program.log().at(-1)).toMatchObject({ level: 'info', msg: 'stopped' });
});

it('a facts process with idle connections and incomplete requests exits within 10 s', async () => {
  const program = startFacts();
  const { port } = await program.listening();
  const sockets = await Promise.all(Array.from({ length: 25 }, () => opened(port)));
  for (const socket of sockets) socket.on('error', () => undefined).resume();
  for (const socket of sockets.slice(20)) socket.write('GET /hea');
  // A response on another connection proves that the server has received those bytes.
  await exchange(port, [plain]);
  const started = performance.now();
  program.child.kill('SIGTERM');
  expect(await program.ended()).toBe(0);
  expect(performance.now() - started).toBeLessThan(10_000);
  for (const socket of sockets) socket.destroy();
});

it.each([
  ['a year', year, []],
  ['a year with the longest list of known issues', yearOf(2), longestIssues],
])('the page of %s is rendered in less than 30 ms of processor time', (_, days, issues) => {
  const render = () =>
    archivePage(factsCommonHeaders, { days: () => days, issues: () => issues })('identity', now, null);
  expect(render().status).toBe(200);
  const renders = 20;
  const means: number[] = [];
  // The first runs also compile the code, and garbage collection lengthens others, so use the shortest of several.
  for (let run = 0; run < 5; run += 1) {
    const before = process.cpuUsage();
    for (let nth = 0; nth < renders; nth += 1) render();
    const { user, system } = process.cpuUsage(before);
    means.push((user + system) / 1_000 / renders);
  }
  // The intended limit is 10 ms. The margin allows for a slow machine.
  expect(Math.min(...means)).toBeLessThan(30);
});
