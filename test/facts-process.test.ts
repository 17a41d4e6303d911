import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { artifactFolderInTest } from './support/artifacts.ts';
import { type Program, startProgram, until } from './support/program.ts';
import { answersIn, exchange, opened } from './support/raw-http.ts';

const machineNode = '/usr/bin/node';
const plain = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n';

function startFacts(args: readonly string[] = [], runtime?: string): Program {
  return startProgram(
    ['facts', '--port', '0', '--artifacts', artifactFolderInTest(), ...args],
    runtime ? { runtime } : {},
  );
}

async function isOpen(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => resolve(true)).once('error', () => resolve(false));
    socket.once('connect', () => socket.destroy());
  });
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Process ids that the log of a program names. */
function pids(program: Program): number[] {
  return [...new Set(program.log().map(({ pid }) => Number(pid)))];
}

/** The port of its metrics: the log comes on another stream than the address that it announces. */
async function metricsPort(program: Program): Promise<number> {
  const told = (): unknown => program.log().find(({ msg }) => msg === 'metrics listening')?.port;
  await until(() => told() !== undefined, 'the port of the metrics');
  return Number(told());
}

describe('SIGTERM', () => {
  it('lets requests in flight finish, whatever idles beside them, and exits 0 within 10 s', async () => {
    const program = startFacts();
    const { port } = await program.listening();
    const idle = await Promise.all(Array.from({ length: 20 }, () => opened(port)));
    const slow = await Promise.all(Array.from({ length: 5 }, () => opened(port)));
    const inFlight = await opened(port);
    for (const socket of [...idle, ...slow, inFlight]) socket.on('error', () => undefined);
    for (const socket of slow) socket.resume().write('GET /hea');
    inFlight.write(plain.slice(0, 20));
    // Answered on another connection later than those bytes: the server has them.
    await exchange(port, [plain]);
    const started = performance.now();
    program.child.kill('SIGTERM');
    await until(async () => !(await isOpen(port)), 'the port to be closed');
    let said = '';
    inFlight.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
    });
    inFlight.write(plain.slice(20));
    expect(await program.ended()).toBe(0);
    expect(performance.now() - started).toBeLessThan(10_000);
    expect(answersIn(said).map(({ status }) => status)).toEqual([200]);
    for (const socket of [...idle, ...slow, inFlight]) socket.destroy();
  });

  it('ends an idle program at once', async () => {
    const program = startFacts();
    await program.listening();
    const started = performance.now();
    program.child.kill('SIGTERM');
    expect(await program.ended()).toBe(0);
    expect(performance.now() - started).toBeLessThan(2_000);
    expect(program.log().at(-1)).toMatchObject({ level: 'info', msg: 'stopped' });
  });
});

describe('--workers 2', () => {
  it('shares one port, tags alike, replaces a worker that died, and stops as one', async () => {
    const program = startFacts(['--workers', '2', '--access-log']);
    const { port } = await program.listening();
    const etags = new Set<string>();
    const answering = (): Set<unknown> =>
      new Set(program.log().flatMap(({ msg, pid }) => (msg === 'answered' ? [pid] : [])));
    await until(async () => {
      const [answer] = answersIn(await exchange(port, ['GET /v1/labels/overview HTTP/1.1\r\nHost: a\r\n\r\n']));
      expect(answer?.status).toBe(200);
      etags.add(answer?.headers.etag ?? '');
      return answering().size === 2;
    }, 'an answer of each worker');
    // Two where the age passed a whole minute in between.
    expect(etags.size).toBeLessThanOrEqual(2);
    expect([...etags].every((etag) => /^W\/"[^"]+"$/.test(etag))).toBe(true);

    const [victim] = answering();
    process.kill(Number(victim), 'SIGKILL');
    await until(() => program.log().filter(({ msg }) => msg === 'listening').length === 3, 'the new worker');
    await until(async () => {
      await exchange(port, [plain]);
      return answering().size === 3;
    }, 'an answer of the new worker');

    const all = pids(program);
    program.child.kill('SIGTERM');
    expect(await program.ended()).toBe(0);
    expect(all.filter(isAlive)).toEqual([]);
  });

  it('end with the process that started them, however it ends', async () => {
    const program = startFacts(['--workers', '2']);
    const { port } = await program.listening();
    await until(() => pids(program).length > 1, 'the log of both workers');
    const workers = pids(program);
    expect(workers).toHaveLength(2);
    program.child.kill('SIGKILL');
    await until(() => workers.every((pid) => !isAlive(pid)), 'the workers to end');
    expect(await isOpen(port)).toBe(false);
  });

  it('that cannot start say why in one line', async () => {
    const first = startFacts();
    const { port } = await first.listening();
    const second = startFacts(['--workers', '2', '--port', String(port)]);
    expect(await second.ended()).toBe(1);
    expect(second.stderr.filter((line) => !line.startsWith('{'))).toEqual([
      `almanac: cannot listen on 127.0.0.1:${port}: the port is in use; choose another with --port`,
    ]);
  });
});

describe.skipIf(!existsSync(machineNode))("started by the machine's own Node", () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('passes %s and the exit code through', async (signal) => {
    const program = startFacts([], machineNode);
    const { port } = await program.listening();
    expect(answersIn(await exchange(port, [plain])).map(({ status }) => status)).toEqual([200]);
    program.child.kill(signal);
    expect(await program.ended()).toBe(0);
    expect(await isOpen(port)).toBe(false);
  });

  it('passes a failure through', async () => {
    const program = startProgram(['facts', '--prot', '1'], { runtime: machineNode });
    expect(await program.ended()).toBe(1);
    expect(program.stderr).toEqual(['almanac: unknown setting --prot; did you mean --port?']);
  });

  it('leaves nothing running when it is killed outright', async () => {
    const program = startFacts([], machineNode);
    await program.listening();
    await until(() => pids(program).length > 0, 'the log of the program');
    const running = pids(program);
    expect(running).toHaveLength(1);
    program.child.kill('SIGKILL');
    await until(() => running.every((pid) => !isAlive(pid)), 'the program to end');
  });
});

describe('metrics', () => {
  it('are off unless asked for, and then on loopback alone', async () => {
    const without = startFacts();
    await without.listening();
    expect(without.log().map(({ msg }) => msg)).not.toContain('metrics listening');
    const program = startFacts(['--metrics-port', '0']);
    const { port } = await program.listening();
    await exchange(port, [plain]);
    const told = await metricsPort(program);
    const metrics = await fetch(`http://127.0.0.1:${told}/metrics`);
    expect(metrics.status).toBe(200);
    expect(await metrics.text()).toMatch(/^almanac_facts_\w+\{[^}]*\} 1$/m);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(404);
    await expect(fetch(`http://127.0.0.2:${told}/metrics`)).rejects.toThrow('fetch failed');
  });
});

describe('the access log', () => {
  const forwarded = `${plain.slice(0, -2)}X-Forwarded-For: 6.6.6.6, 198.51.100.7, 203.0.113.1\r\n\r\n`;
  const logged = async (args: readonly string[]): Promise<Record<string, unknown>[]> => {
    const program = startFacts(args);
    const { port } = await program.listening();
    for (const sent of [plain, forwarded]) expect(answersIn(await exchange(port, [sent]))).toHaveLength(1);
    program.child.kill('SIGTERM');
    expect(await program.ended()).toBe(0);
    expect(program.stderr.join('\n')).not.toContain('6.6.6.6');
    return program
      .log()
      .filter(({ msg }) => msg === 'answered')
      .map(({ level: _level, time: _time, name: _name, pid: _pid, msg: _msg, ...fields }) => fields);
  };

  it.each<[readonly string[], readonly object[]]>([
    [[], []],
    [['--access-log'], [{}, {}]],
    [
      ['--access-log', '--trust-proxy', '1'],
      [{}, {}],
    ],
    [['--access-log-clients'], [{ client: '127.0.0.1' }, { client: '127.0.0.1' }]],
    [
      ['--access-log-clients', '--trust-proxy', '1'],
      [{ client: '127.0.0.1' }, { client: '203.0.113.1' }],
    ],
    [
      ['--access-log-clients', '--trust-proxy', '2'],
      [{ client: '127.0.0.1' }, { client: '198.51.100.7' }],
    ],
  ])('with %j', async (args, wanted) => {
    expect(await logged(args)).toEqual(wanted.map((client) => ({ route: '/health', status: 200, ...client })));
  });
});

describe('metrics of several workers', () => {
  it('are added up on one listener', async () => {
    const program = startProgram([
      'facts',
      '--port',
      '0',
      '--artifacts',
      artifactFolderInTest(),
      '--workers',
      '2',
      '--metrics-port',
      '0',
    ]);
    const { url } = await program.listening();
    for (let n = 0; n < 6; n++) expect((await fetch(`${url}/v1/instruments`)).status).toBe(200);
    const port = await metricsPort(program);
    const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
    expect(text).toMatch(/^almanac_facts_requests_total\{route="\/v1\/instruments",status="200"\} 6$/m);
    expect(text).toMatch(/^almanac_facts_artifact_readable\{instrument="labels"\} 1$/m);
  });
});

describe('publication is thin', () => {
  it('the running process has loaded no database', async () => {
    const program = startProgram(['facts', '--port', '0', '--artifacts', artifactFolderInTest()]);
    const { url } = await program.listening();
    expect((await fetch(`${url}/v1/instruments`)).status).toBe(200);
    const maps = readFileSync(`/proc/${program.child.pid}/maps`, 'utf8');
    expect(maps).toContain('node');
    expect(maps).not.toMatch(/sqlite/i);
  });
});

describe('an artifact that cannot be published', () => {
  it.each([
    ['labels', 'half of one', '{"schema":', { reading: 'malformed', why: 'it is not one JSON value', pointer: '' }],
    ['labels', 'of nobody', '{"schema":"x"}', { reading: 'unknown_schema' }],
    ['weather', 'without its window', '{"schema":"weather.summary.v1"}', { reading: 'malformed', why: 'is missing' }],
  ])('is 503 to a client, and a line of the log says what is wrong: %s, %s', async (instrument, _what, text, said) => {
    const folder = artifactFolderInTest();
    const name = instrument === 'labels' ? 'labels-overview.json' : 'weather-summary.json';
    writeFileSync(join(folder, name), text);
    const program = startProgram(['facts', '--port', '0', '--artifacts', folder]);
    const { url } = await program.listening();
    const path = instrument === 'labels' ? '/v1/labels/overview' : '/v1/weather/metrics';
    const response = await fetch(url + path);
    expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
      503,
      'source_unavailable',
    ]);
    const refused = (): Record<string, unknown> | undefined =>
      program.log().find(({ msg }) => msg === 'artifact refused');
    await until(() => refused() !== undefined, 'the line of the log');
    expect(refused()).toMatchObject({ level: 'warn', instrument, ...said });
  });
});
