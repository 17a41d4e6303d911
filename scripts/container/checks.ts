import { setTimeout as wait } from 'node:timers/promises';
import type { Engine } from './engine.ts';

/** Result of one check. */
interface Check {
  readonly promise: string;
  readonly isKept: boolean;
  /** Finding to show if the check fails. */
  readonly found: string;
}

function check(promise: string, isKept: boolean, found: unknown): Check {
  return { promise, isKept, found: JSON.stringify(found) };
}

/** Checks the configuration of the image. */
export function checkImage(engine: Engine): Check[] {
  const { Config } = JSON.parse(engine.podman('image', 'inspect', 'almanac').text)[0] as {
    Config: { User: string; Volumes: object; StopSignal: string };
  };
  return [
    check('the image runs as the user node', Config.User === 'node', Config.User),
    check(
      'the image has one volume',
      JSON.stringify(Object.keys(Config.Volumes)) === '["/var/lib/almanac"]',
      Config.Volumes,
    ),
    check('the image stops on SIGTERM', Config.StopSignal === 'SIGTERM', Config.StopSignal),
  ];
}

/** Runs the whole observatory over a simulated network in one container, checks it, and stops it. */
export async function checkObservatory(engine: Engine): Promise<Check[]> {
  const name = 'almanac-demo';
  engine.start(name, ['-v', 'almanac-demo:/var/lib/almanac'], ['demo', '--data', '/var/lib/almanac/demo']);
  try {
    const isHealthy = await becomes(() => engine.podman('healthcheck', 'run', name).status === 0);
    const checks = [
      check('the health check succeeds within 60 s', isHealthy, engine.podman('logs', '--tail', '3', name).text),
      ...checkRights(engine, name),
      check('the facts are served', statusOf(engine, name, 8400, '/v1/weather/conditions') === '200', null),
      check('the account surface is served', statusOf(engine, name, 8401, '/health') === '200', null),
    ];
    return [...checks, ...stopped(engine, name)];
  } finally {
    engine.podman('rm', '-f', '-t', '0', name);
    engine.podman('volume', 'rm', '-f', 'almanac-demo');
  }
}

/**
 * Runs the label instrument, the facts API and the account surface in separate containers with the volumes of the
 * compose file, and checks them. Readers mount the volume read-only. There is no network, so the instrument observes
 * nothing.
 */
export async function checkSeparateProcesses(engine: Engine): Promise<Check[]> {
  const [artifacts, labels] = [
    'almanac-artifacts:/var/lib/almanac/artifacts',
    'almanac-labels:/var/lib/almanac/labels',
  ];
  const store = ['--store', 'sqlite:/var/lib/almanac/labels'];
  const directory = ['--artifacts', '/var/lib/almanac/artifacts'];
  try {
    engine.start('almanac-labels', ['-v', artifacts, '-v', labels], ['labels', ...store, ...directory]);
    const hasStore = await becomes(
      () => engine.exec('almanac-labels', 'test', '-e', '/var/lib/almanac/artifacts/labels-overview.json').status === 0,
    );
    engine.start('almanac-facts', ['-v', `${artifacts}:ro`], ['facts', ...directory]);
    const secret = ['--secret-file', '/var/lib/almanac/account/account-secret'];
    engine.start(
      'almanac-account',
      ['-v', `${labels}:ro`, '-v', 'almanac-account:/var/lib/almanac/account'],
      ['account', ...store, ...secret],
    );
    const account = '/account?did=did:plc:aaaaaaaaaaaaaaaaaaaaaaaa';
    const isRead = await becomes(() => statusOf(engine, 'almanac-account', 8401, account) === '200');
    const index = await becomes(() => statusOf(engine, 'almanac-facts', 8400, '/v1/instruments') === '200');
    return [
      check(
        'the label instrument writes its volumes',
        hasStore,
        engine.podman('logs', '--tail', '3', 'almanac-labels').text,
      ),
      check(
        'the facts API serves a read-only volume',
        index,
        engine.podman('logs', '--tail', '3', 'almanac-facts').text,
      ),
      check(
        'the account surface reads the store from a read-only volume',
        isRead,
        engine.podman('logs', '--tail', '3', 'almanac-account').text,
      ),
      ...['almanac-account', 'almanac-facts', 'almanac-labels'].flatMap((name) => stopped(engine, name)),
    ];
  } finally {
    for (const name of ['labels', 'facts', 'account']) engine.podman('rm', '-f', '-t', '0', `almanac-${name}`);
    for (const name of ['labels', 'artifacts', 'account']) engine.podman('volume', 'rm', '-f', `almanac-${name}`);
  }
}

function checkRights(engine: Engine, name: string): Check[] {
  const { text } = engine.exec(name, 'sh', '-c', 'id -u; cat /proc/self/status; grep core /proc/self/limits');
  const writable = (path: string): boolean => engine.exec(name, 'touch', `${path}/test-file`).status === 0;
  const sealed = ['/', '/opt/almanac', '/opt/almanac/dist', '/etc', '/home/node', '/var/tmp'].filter(writable);
  const open = ['/tmp', '/var/lib/almanac'].filter(writable);
  return [
    check('a process runs as uid 1000', /^1000$/m.test(text), text.split('\n')[0]),
    check('a process has no capability', /^CapEff:\s+0+$/m.test(text) && /^CapBnd:\s+0+$/m.test(text), text),
    check('a process gains no privileges', /^NoNewPrivs:\s+1$/m.test(text), text),
    check('a process writes no core dump', /^Max core file size\s+0\s+0/m.test(text), text),
    check('the root file system is read-only', sealed.length === 0, sealed),
    check('the volume and /tmp are writable', open.length === 2, open),
  ];
}

function stopped(engine: Engine, name: string): Check[] {
  const from = performance.now();
  engine.podman('stop', '-t', '30', name);
  const seconds = (performance.now() - from) / 1000;
  const code = engine.podman('inspect', name, '--format', '{{.State.ExitCode}}').text;
  return [
    check(`${name} stops with exit code 0 within 10 s (${seconds.toFixed(1)} s)`, code === '0' && seconds < 10, code),
  ];
}

function statusOf(engine: Engine, name: string, port: number, path: string): string {
  const script = `fetch('http://127.0.0.1:${port}${path}').then((r) => console.log(r.status), (e) => console.log(String(e)))`;
  return engine.exec(name, 'node', '-e', script).text;
}

/**
 * Checks a condition every second up to 60 times. Resolves with true once the condition holds, or otherwise with false.
 */
async function becomes(holds: () => boolean): Promise<boolean> {
  for (let tries = 0; tries < 60; tries++) {
    if (holds()) return true;
    await wait(1000);
  }
  return false;
}
