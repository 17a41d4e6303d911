import { chmodSync, existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { type AddressInfo, createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Readable } from 'node:stream';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { youngArtifact } from '../../harness/artifacts/artifacts.ts';
import { freePort } from '../../harness/net/ports.ts';
import { runProgram, startProgramInTest } from '../../harness/process/program-in-test.ts';
import { until } from '../../harness/process/until.ts';
import { commandNames } from '../../src/main/commands.ts';

const folder = mkdtempSync(join(tmpdir(), 'almanac-cli-'));
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function file(name: string, content: string | object): string {
  const path = join(folder, name);
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
}

const config = (content: string | object): string => file(`config-${Math.random()}.json`, content);
const missing = join(folder, 'nowhere');
const aFile = file('a-file', 'x');

describe('an error on the command line', () => {
  it.each<[string, readonly string[], Record<string, string>, string]>([
    ['a misspelt command', ['fakts'], {}, 'unknown command fakts; did you mean facts?'],
    ['a misspelt flag', ['facts', '--base-pth', '/a'], {}, 'unknown setting --base-pth; did you mean --base-path?'],
    ['an old flag name', ['facts', '--max-age', '5'], {}, 'unknown setting --max-age; did you mean --max-age-seconds?'],
    [
      'an unknown flag without a similar one',
      ['facts', '--zzzzzzzzzzzzzzzz'],
      {},
      'unknown setting --zzzzzzzzzzzzzzzz',
    ],
    ['a flag with two letters swapped', ['facts', '--hots', 'x'], {}, 'unknown setting --hots; did you mean --host?'],
    ['a flag with a slightly similar one', ['facts', '--pots', 'x'], {}, 'unknown setting --pots'],
    ['a command with a slightly similar one', ['logs'], {}, 'unknown command logs'],
    ['a wrong variable', ['facts'], { ALMANAC_PROT: '1' }, 'unknown setting ALMANAC_PROT; did you mean ALMANAC_PORT?'],
    [
      'a misspelt key of the config file',
      ['facts', '--config', config({ 'bse-path': '/a' })],
      {},
      'unknown key "bse-path" in the config file; did you mean "base-path"?',
    ],
    ['a flag without its value', ['facts', '--port'], {}, '--port requires a value'],
    [
      'a word for a port',
      ['facts', '--port', 'http'],
      {},
      '--port requires a whole number from 0 to 65535; got "http"',
    ],
    [
      'a port that is too high',
      ['facts', '--port', '65536'],
      {},
      '--port requires a whole number from 0 to 65535; got "65536"',
    ],
    ['a negative number', ['facts', '--port', '-1'], {}, '--port requires a whole number from 0 to 65535; got "-1"'],
    [
      'a fraction',
      ['facts', '--max-age-seconds=1.5'],
      {},
      '--max-age-seconds requires a whole number from 0 to 31622400; got "1.5"',
    ],
    ['zero workers', ['facts', '--workers', '0'], {}, '--workers requires a whole number from 1 to 64; got "0"'],
    [
      'a bad number in a variable',
      ['facts'],
      { ALMANAC_WORKERS: 'all' },
      'ALMANAC_WORKERS requires a whole number from 1 to 64; got "all"',
    ],
    [
      'a bad number in the config file',
      ['facts', '--config', config({ workers: -2 })],
      {},
      'config "workers" requires a whole number from 1 to 64; got "-2"',
    ],
    [
      'a missing config file',
      ['facts', '--config', missing],
      {},
      `cannot read the config file ${missing}: no such file or directory (ENOENT)`,
    ],
    [
      'a config file that is not JSON',
      ['facts', '--config', aFile],
      {},
      `the config file ${aFile} does not contain exactly one JSON object`,
    ],
    [
      'an invalid base path',
      ['facts', '--artifacts', folder, '--base-path', 'a b'],
      {},
      '--base-path requires a path such as /atproto; got "a b"',
    ],
    [
      'an invalid public address',
      ['facts', '--artifacts', folder, '--public-url', 'ftp://a'],
      {},
      '--public-url requires a URL (https or http); got "ftp://a"',
    ],
    [
      'an argument that is not a setting',
      ['facts', folder],
      {},
      `this command accepts only settings, such as --NAME VALUE; got ${folder}`,
    ],
    ['a missing directory', ['facts', '--artifacts', missing], {}, `no such directory: ${missing}`],
    ['a file in place of a directory', ['facts', '--artifacts', aFile], {}, `not a directory: ${aFile}`],
    [
      'a directory in place of a file',
      ['facts', '--artifacts', folder, '--labels-artifact', folder],
      {},
      `not a file: ${folder}`,
    ],
    [
      'a file in a missing directory',
      ['facts', '--artifacts', folder, '--weather-artifact', join(missing, 'a.json')],
      {},
      `no such directory: ${missing}`,
    ],
    [
      'a bad address',
      ['facts', '--artifacts', folder, '--labels-artifact', 'http://'],
      {},
      '--labels-artifact requires a URL (https or http); got "http://"',
    ],
    [
      'an address of another machine',
      ['facts', '--artifacts', folder, '--port', '0', '--host', '192.0.2.1'],
      {},
      'cannot listen on 192.0.2.1:0: this machine has no such address; choose another with --host',
    ],
    ['check without a file', ['check'], {}, 'check requires exactly one FILE'],
    ['check of two files', ['check', aFile, aFile], {}, 'check requires exactly one FILE'],
    ['check of a directory', ['check', folder], {}, `not a file: ${folder}`],
    ['check of a missing file', ['check', missing], {}, `cannot read ${missing}: no such file or directory (ENOENT)`],
  ])('is reported in one line on stderr, with exit code 1 (%s)', async (_what, args, env, line) => {
    const { code, stdout, stderr } = await runProgram(args, { env });
    const said = stderr.filter((one) => !one.startsWith('{'));
    expect({ code, stdout, said }).toEqual({ code: 1, stdout: [], said: [`almanac: ${line}`] });
  });

  it.skipIf(!existsSync('/proc/self')).each<[readonly string[], string]>([
    [['up', '--data', '/proc/x'], 'cannot create the directory /proc/x/artifacts'],
    [['demo', '--data', '/proc/x', '--port', '0', '--account-port', '0'], 'cannot create the directory /proc/x'],
    [['weather', '--data', '/proc/x'], 'cannot create the directory /proc/x/artifacts'],
    [
      ['labels', '--store', 'sqlite:/proc/x/labels'],
      'cannot open the store sqlite:/proc/x/labels: cannot create the directory /proc/x/labels/days',
    ],
    [
      ['sim', '--label-history', 'sqlite:/proc/x/labels'],
      'cannot open the store sqlite:/proc/x/labels: cannot create the directory /proc/x/labels/days',
    ],
    [['account', '--data', '/proc/x', '--port', '0'], 'cannot create the directory /proc/x'],
  ])(
    'is reported in one line on stderr, with exit code 1, if the file system does not support directories (%j)',
    async (args, line) => {
      const { code, stderr } = await runProgram(args);
      const said = stderr.filter((one) => !one.startsWith('{'));
      expect({ code, said }).toEqual({
        code: 1,
        said: [`almanac: ${line}: the file system does not allow new directories there`],
      });
    },
  );

  it.each([['--port'], ['--metrics-port']])(
    'is reported in one line on stderr, with exit code 1, if the port of %s is in use',
    async (flag) => {
      const server = createServer();
      await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
      onTestFinished(() => void server.close());
      const port = (server.address() as AddressInfo).port;
      const { code, stdout, stderr } = await runProgram([
        'facts',
        '--port',
        '0',
        '--artifacts',
        folder,
        flag,
        String(port),
      ]);
      const wanted =
        flag === '--port'
          ? `cannot listen on 127.0.0.1:${port}: the port is in use; choose another with --port`
          : `cannot serve metrics on port ${port}: the port is in use (EADDRINUSE); choose another with --metrics-port`;
      expect({ code, stdout, said: stderr.filter((line) => !line.startsWith('{')) }).toEqual({
        code: 1,
        stdout: [],
        said: [`almanac: ${wanted}`],
      });
    },
  );

  it("is reported in one line if the account surface's port is in use, without output from the store-reading processes", async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const port = (server.address() as AddressInfo).port;
    const { code, stdout, stderr } = await runProgram([
      ...['account', '--port', String(port), '--store', `sqlite:${join(folder, 'none')}`, '--data', folder],
    ]);
    expect({ code, stdout, said: stderr.filter((line) => !line.startsWith('{')) }).toEqual({
      code: 1,
      stdout: [],
      said: [`almanac: cannot listen on 127.0.0.1:${port}: the port is in use; choose another with --port`],
    });
  });

  it.skipIf(process.getuid?.() === 0)(
    'is reported in one line on stderr, with exit code 1, if the program has no permission to read a file',
    async () => {
      const path = file('secret.json', {});
      chmodSync(path, 0);
      const wanted = [`almanac: cannot read the artifact ${path}: permission denied (EACCES)`];
      const { code, stderr } = await runProgram(['facts', '--artifacts', folder, '--labels-artifact', path]);
      expect({ code, stderr }).toEqual({ code: 1, stderr: wanted });
    },
  );
});

it('flags override variables, and variables override the config file', async () => {
  const path = config({ 'base-path': '/file', port: 0, artifacts: folder });
  const announced = async (args: readonly string[], env: Record<string, string>): Promise<string> => {
    const program = startProgramInTest(['facts', ...args], { env });
    const { url } = await program.listening();
    program.child.kill('SIGKILL');
    return new URL(url).pathname;
  };
  const flag = ['--base-path', '/flag'];
  const variable = { ALMANAC_BASE_PATH: '/variable' };
  expect([
    await announced(['--config', path], {}),
    await announced([], { ALMANAC_CONFIG: path }),
    await announced(['--config', path], variable),
    await announced(['--config', path, ...flag], variable),
  ]).toEqual(['/file', '/file', '/variable', '/flag']);
});

describe('almanac check', () => {
  const now = Date.now();
  const recent = youngArtifact('recent', now) as { coverage: object };
  const long = 100_000_000;

  it.each<[string, object | string, number, string, string | null]>([
    ['a label overview', recent, 0, 'servable', 'fresh'],
    ['the legacy label overview', youngArtifact('legacy', now), 0, 'servable', 'fresh'],
    ['a weather summary', youngArtifact('weather', now), 0, 'servable', null],
    ['the weatherwatch summary', youngArtifact('weatherwatch', now), 0, 'servable', null],
    ['a young epoch', { ...recent, coverage: { ...recent.coverage, observed_days: 3 } }, 0, 'servable', 'warming_up'],
    ['a held artifact', { ...recent, hold: true }, 1, 'refused', 'held'],
    ['an old artifact', youngArtifact('recent', now - long), 1, 'refused', 'stale'],
    ['an artifact dated tomorrow', youngArtifact('recent', now + long), 1, 'refused', 'unavailable'],
    [
      'an artifact without an accepted page',
      { ...recent, coverage: { ...recent.coverage, observed_through: null } },
      1,
      'refused',
      'unavailable',
    ],
    ['an artifact without counts', { ...recent, counts: undefined }, 1, 'refused', 'unavailable'],
    [
      'a weather summary without a usable time',
      { ...youngArtifact('weather', now), generated_at: 'noon' },
      1,
      'refused',
      null,
    ],
    ['an unknown schema', { schema: 'labels.recent-overview.v9' }, 2, 'not_an_artifact', null],
    ['a list', '[]', 2, 'not_an_artifact', null],
    ['half an artifact', JSON.stringify(recent).slice(0, 500), 2, 'not_an_artifact', null],
    ['an empty file', '', 2, 'not_an_artifact', null],
    ['plain text', 'labels', 2, 'not_an_artifact', null],
  ])('reports the verdict and the freshness state of %s', async (what, content, code, verdict, state) => {
    const path = file(`${what}.json`, content);
    const [text, json] = await Promise.all([runProgram(['check', path]), runProgram(['check', path, '--json'])]);
    expect([text.code, json.code, text.stderr, json.stderr]).toEqual([code, code, [], []]);
    expect(text.stdout[0]).toBe(`${path}: ${verdict.replaceAll('_', ' ')}`);
    const reported = JSON.parse(json.stdout.join('\n')) as { verdict: string; state: string | null; reasons: string[] };
    expect([reported.verdict, reported.state, reported.reasons.length > 0]).toEqual([verdict, state, code !== 0]);
    // Remove the ages, because the two runs take place at different times.
    const timeless = (said: string): string => said.replaceAll(/\d+(?:\.\d+)? s old/g, 'N s old');
    for (const reason of reported.reasons) expect(timeless(text.stdout.join('\n'))).toContain(timeless(reason));
  });

  it('reports as the only reason that no page has been accepted yet if observed_through is null', async () => {
    const path = file('no page.json', { ...recent, coverage: { ...recent.coverage, observed_through: null } });
    const { stdout } = await runProgram(['check', path, '--json']);
    const { reasons } = JSON.parse(stdout.join('\n')) as { reasons: string[] };
    expect(reasons).toEqual(['no page of labels has been accepted yet: coverage.observed_through is null']);
  });

  it.each(['recent', 'weather'] as const)('reports that a %s artifact is simulated', async (kind) => {
    const path = file(`simulated ${kind}.json`, { ...youngArtifact(kind, now), origin: 'simulated' });
    const [live, simulated] = await Promise.all([
      runProgram(['check', file(`live ${kind}.json`, youngArtifact(kind, now))]),
      runProgram(['check', path]),
    ]);
    const note = '  note        These facts come from a simulated network. They say nothing about the real one.';
    expect([simulated.code, simulated.stdout.filter((line) => line === note)]).toEqual([0, [note]]);
    expect(live.stdout).not.toContain(note);
  });

  it('refuses an artifact that exceeds the size limit', async () => {
    const path = file('large.json', recent);
    const { code, stdout } = await runProgram(['check', path, '--max-artifact-bytes', '100']);
    expect([code, stdout]).toEqual([
      1,
      [
        `${path}: refused`,
        '  because     unreadable: it is larger than 100 bytes',
        '  GET /v1/labels/overview -> 503 source_unavailable',
        '  GET /v1/weather/conditions -> 503 source_unavailable',
        '  GET /v1/weather/metrics -> 503 source_unavailable',
      ],
    ]);
  });
});

describe('a program whose output pipe is closed', () => {
  it('exits with the exit code of its command and without a stack trace', async () => {
    const program = startProgramInTest(['--help']);
    (program.child.stdout as Readable).destroy();
    expect([await program.ended(), program.stderr]).toEqual([0, []]);
  });

  it('continues to respond to requests if it is a service', async () => {
    const port = await freePort();
    const program = startProgramInTest(['facts', '--artifacts', folder, '--port', String(port)]);
    for (const stream of [program.child.stdout, program.child.stderr]) (stream as Readable).destroy();
    const isServing = () =>
      fetch(`http://127.0.0.1:${port}/health`).then(
        ({ ok }) => ok,
        () => false,
      );
    await until('the service responds', isServing);
    expect([program.child.exitCode, await program.stop()]).toEqual([null, 0]);
  });
});

describe('--help', () => {
  it.each([
    [
      'facts',
      '--host --port --base-path --artifacts --labels-artifact --weather-artifact --max-age-seconds --collection-max-age-seconds --workers',
    ],
    [
      'account',
      '--host --port --base-path --store --max-export-rows --page-rows --export-ttl-seconds --plc --no-handles',
    ],
    ['check', 'FILE --json'],
    ['up', '--data --host --port --account-port'],
    ['demo', '--data --host --port --account-port'],
  ])('lists the main flags of the command %s', async (command, flags) => {
    const { code, stdout, stderr } = await runProgram([command, '--help']);
    expect([code, stderr]).toEqual([0, []]);
    const words = stdout.join(' ').split(/\s+/);
    expect(flags.split(' ').filter((flag) => !words.includes(flag))).toEqual([]);
  });

  it('lists exactly the exit codes of the command check', async () => {
    const { stdout } = await runProgram(['check', '--help']);
    const reported = stdout
      .slice(stdout.indexOf('exit codes:') + 1)
      .map((line) => /^ {2}(\d+) +(.+?):/.exec(line)?.slice(1));
    expect(reported).toEqual([
      ['0', 'servable'],
      ['1', 'refused'],
      ['2', 'not an artifact'],
    ]);
  });

  it('states what each action of the command labels does, without reference to another action', async () => {
    const { stdout } = await runProgram(['labels', '--help']);
    const again = stdout.filter((line) => line.endsWith(' again')).map((line) => line.trim().split(/ {2,}/)[1]);
    expect(again).toEqual([
      'serve the label facts again',
      'read a denied labeler, or the labelers of a denied domain, again',
    ]);
  });

  it('lists every command of the program', async () => {
    const { code, stdout } = await runProgram(['--help']);
    expect(code).toBe(0);
    const names = stdout.flatMap((line) => /^ {2}(\w+) /.exec(line)?.[1] ?? []);
    expect(names).toEqual(commandNames);
    expect(names).toEqual(expect.arrayContaining(['facts', 'check', 'up', 'demo']));
  });
});
