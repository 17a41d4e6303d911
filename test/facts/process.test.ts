import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { answersIn, exchange, opened } from '../../harness/net/raw-http.ts';
import type { Program, ProgramOptions } from '../../harness/process/program.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { artifactNames } from '../../src/artifact/write.ts';

const machineNode = '/usr/bin/node';
const plain = 'GET /health HTTP/1.1\r\nHost: a\r\n\r\n';

/** A module that sends a SIGINT to its process right after its first SIGTERM, as npm repeats a signal of the terminal. */
const repeat = "process.once('SIGTERM', () => setImmediate(() => process.kill(process.pid, 'SIGINT')))";
const repeated = { env: { NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(repeat)}` } };

function startFacts(args: readonly string[] = [], options: ProgramOptions = {}): Program {
  return startProgramInTest(['facts', '--port', '0', '--artifacts', artifactFolderInTest(), ...args], options);
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

/** Returns the process ids in a program's log. */
function pids(program: Program): number[] {
  return [...new Set(program.log().map(({ pid }) => Number(pid)))];
}

/** Returns the port of the metrics from the log. The log and the announced address are on different output streams. */
async function metricsPort(program: Program): Promise<number> {
  const announcedPort = (): unknown => program.log().find(({ msg }) => msg === 'the metrics port is open')?.port;
  await until('the port of the metrics', () => announcedPort() !== undefined);
  return Number(announcedPort());
}

describe('a facts process that receives a signal to stop', () => {
  it.each([
    ['once', {}],
    ['twice', repeated],
  ])('%s completes pending requests despite idle connections, and exits with 0', async (_, options) => {
    const program = startFacts([], options);
    const { port } = await program.listening();
    const idle = await Promise.all(Array.from({ length: 20 }, () => opened(port)));
    const slow = await Promise.all(Array.from({ length: 5 }, () => opened(port)));
    const inFlight = await opened(port);
    for (const socket of [...idle, ...slow, inFlight]) socket.on('error', () => undefined);
    for (const socket of slow) socket.resume().write('GET /hea');
    inFlight.write(plain.slice(0, 20));
    // A response on another connection proves that the server has received those bytes.
    await exchange(port, [plain]);
    program.child.kill('SIGTERM');
    await until('the port to be closed', async () => !(await isOpen(port)));
    let said = '';
    inFlight.on('data', (chunk: Buffer) => {
      said += chunk.toString('latin1');
    });
    inFlight.write(plain.slice(20));
    expect(await program.ended()).toBe(0);
    expect(answersIn(said).map(({ status }) => status)).toEqual([200]);
    for (const socket of [...idle, ...slow, inFlight]) socket.destroy();
  });
});

describe('the worker processes of --workers 2', () => {
  it('share one port and send the same validators, are replaced if they exit, and stop together', async () => {
    const program = startFacts(['--workers', '2', '--access-log']);
    const { port } = await program.listening();
    const etags = new Set<string>();
    const answering = (): Set<unknown> =>
      new Set(program.log().flatMap(({ msg, pid }) => (msg === 'answered' ? [pid] : [])));
    await until('a response of each worker', async () => {
      const [answer] = answersIn(await exchange(port, ['GET /v1/labels/overview HTTP/1.1\r\nHost: a\r\n\r\n']));
      expect(answer?.status).toBe(200);
      etags.add(answer?.headers.etag ?? '');
      return answering().size === 2;
    });
    // Allow two validators, because a new age bucket may have begun in the meantime.
    expect(etags.size).toBeLessThanOrEqual(2);
    expect([...etags].every((etag) => /^W\/"[^"]+"$/.test(etag))).toBe(true);

    const [victim] = answering();
    process.kill(Number(victim), 'SIGKILL');
    await until('the new worker', () => program.log().filter(({ msg }) => msg === 'listening').length === 3);
    await until('a response of the new worker', async () => {
      await exchange(port, [plain]);
      return answering().size === 3;
    });

    const all = pids(program);
    program.child.kill('SIGTERM');
    expect(await program.ended()).toBe(0);
    expect(all.filter(isAlive)).toEqual([]);
  });

  it('exit together with the process that started them, even if that process is killed', async () => {
    const program = startFacts(['--workers', '2']);
    const { port } = await program.listening();
    await until('the log of both workers', () => pids(program).length > 1);
    const workers = pids(program);
    expect(workers).toHaveLength(2);
    program.child.kill('SIGKILL');
    await until('the workers to end', () => workers.every((pid) => !isAlive(pid)));
    expect(await isOpen(port)).toBe(false);
  });

  it('report in one line why they cannot start', async () => {
    const first = startFacts();
    const { port } = await first.listening();
    const second = startFacts(['--workers', '2', '--port', String(port)]);
    expect(await second.ended()).toBe(1);
    expect(second.stderr.filter((line) => !line.startsWith('{'))).toEqual([
      `almanac: cannot listen on 127.0.0.1:${port}: the port is in use; choose another with --port`,
    ]);
  });
});

describe.skipIf(!existsSync(machineNode))("a program started by the machine's own Node", () => {
  it.each(['SIGTERM', 'SIGINT'] as const)('forwards %s and the exit code', async (signal) => {
    const program = startFacts([], { runtime: machineNode });
    const { port } = await program.listening();
    expect(answersIn(await exchange(port, [plain])).map(({ status }) => status)).toEqual([200]);
    program.child.kill(signal);
    expect(await program.ended()).toBe(0);
    expect(await isOpen(port)).toBe(false);
  });

  it('forwards a failure and its exit code', async () => {
    const program = startProgramInTest(['facts', '--prot', '1'], { runtime: machineNode });
    expect(await program.ended()).toBe(1);
    expect(program.stderr).toEqual(['almanac: unknown setting --prot; did you mean --port?']);
  });

  it('leaves no process running when it is killed', async () => {
    const program = startFacts([], { runtime: machineNode });
    await program.listening();
    await until('the log of the program', () => pids(program).length > 0);
    const running = pids(program);
    expect(running).toHaveLength(1);
    program.child.kill('SIGKILL');
    await until('the program to end', () => running.every((pid) => !isAlive(pid)));
  });
});

describe('the metrics of the facts process', () => {
  it('are off by default, and served on loopback only', async () => {
    const without = startFacts();
    await without.listening();
    expect(without.log().map(({ msg }) => msg)).not.toContain('the metrics port is open');
    const program = startFacts(['--metrics-port', '0']);
    const { port } = await program.listening();
    await exchange(port, [plain]);
    const announcedPort = await metricsPort(program);
    const metrics = await fetch(`http://127.0.0.1:${announcedPort}/metrics`);
    expect(metrics.status).toBe(200);
    const text = await metrics.text();
    expect(text).toMatch(/^almanac_facts_\w+\{[^}]*\} 1$/m);
    expect(text).toMatch(/^almanac_process_process_open_fds \d+$/m);
    // These would list every open connection at each scrape.
    expect(text).not.toMatch(/^almanac_process_nodejs_active_/m);
    expect((await fetch(`http://127.0.0.1:${port}/metrics`)).status).toBe(404);
    await expect(fetch(`http://127.0.0.2:${announcedPort}/metrics`)).rejects.toThrow('fetch failed');
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
  ])(
    'names clients only with --access-log-clients, and identifies clients as --trust-proxy specifies (%j)',
    async (args, wanted) => {
      expect(await logged(args)).toEqual(wanted.map((client) => ({ route: '/health', status: 200, ...client })));
    },
  );
});

describe('the metrics of several workers', () => {
  it('are summed, and served by one listener', async () => {
    const program = startProgramInTest([
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

describe('the metric of a readable artifact', () => {
  it.each(['1', '2'])('follows the file without a request for a fact (%s workers)', async (workers) => {
    const folder = artifactFolderInTest();
    const options = ['--artifacts', folder, '--workers', workers, '--metrics-port', '0'];
    const program = startProgramInTest(['facts', '--port', '0', ...options]);
    const { url } = await program.listening();
    const port = await metricsPort(program);
    const readable = async () => {
      const text = await (await fetch(`http://127.0.0.1:${port}/metrics`)).text();
      return [...text.matchAll(/^almanac_facts_artifact_readable\{instrument="(\w+)"\} (\d)$/gm)].map(
        ([, instrument, value]) => `${instrument} ${value}`,
      );
    };
    const path = join(folder, artifactNames.labels);
    const content = readFileSync(path);
    expect(await readable()).toEqual(['labels 1', 'weather 1']);
    writeFileSync(path, '{');
    expect(await readable()).toEqual(['labels 0', 'weather 1']);
    expect((await fetch(`${url}/v1/labels/overview`)).status).toBe(503);
    writeFileSync(path, content);
    expect(await readable()).toEqual(['labels 1', 'weather 1']);
  });
});

describe('the running facts process', () => {
  it('does not load the database module', async () => {
    const program = startProgramInTest(['facts', '--port', '0', '--artifacts', artifactFolderInTest()]);
    const { url } = await program.listening();
    expect((await fetch(`${url}/v1/instruments`)).status).toBe(200);
    const maps = readFileSync(`/proc/${program.child.pid}/maps`, 'utf8');
    expect(maps).toContain('node');
    expect(maps).not.toMatch(/sqlite/i);
  });
});

describe('an artifact that cannot be published', () => {
  it.each([
    [
      'labels',
      'truncated',
      '{"schema":',
      { reading: 'malformed', why: 'the artifact is not a single JSON value', pointer: '' },
    ],
    ['labels', 'of an unknown producer', '{"schema":"x"}', { reading: 'unknown_schema' }],
    ['weather', 'without its window', '{"schema":"weather.summary.v1"}', { reading: 'malformed', why: 'is missing' }],
  ])(
    'leads to a 503 response and a log line that states the problem (%s, %s)',
    async (instrument, _what, text, said) => {
      const folder = artifactFolderInTest();
      const name = instrument === 'labels' ? 'labels-overview.json' : 'weather-summary.json';
      writeFileSync(join(folder, name), text);
      const program = startProgramInTest(['facts', '--port', '0', '--artifacts', folder]);
      const { url } = await program.listening();
      const path = instrument === 'labels' ? '/v1/labels/overview' : '/v1/weather/metrics';
      const response = await fetch(url + path);
      expect([response.status, ((await response.json()) as { error: { code: string } }).error.code]).toEqual([
        503,
        'source_unavailable',
      ]);
      const refused = (): Record<string, unknown> | undefined =>
        program.log().find(({ msg }) => msg === 'the artifact is refused');
      await until('the line of the log', () => refused() !== undefined);
      expect(refused()).toMatchObject({ level: 'warn', instrument, ...said });
    },
  );
});
