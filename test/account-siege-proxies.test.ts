import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { describe, expect, it, onTestFinished } from 'vitest';
import { folderInTest, startAccount } from './support/account.ts';
import { besiege, type HonestAnswer } from './support/account-siege.ts';
import { siegeTargets, writeSiegeStore } from './support/account-siege-store.ts';
import { freePort } from './support/ports.ts';
import { until } from './support/program.ts';
import { writeProxyConfig } from './support/proxy-config.ts';
import { lacks } from './support/tools.ts';

/** The account surface under hostile clients, behind the configurations of `deploy/`. */

/** What the unit allows its processes together, in MB. */
const unitMb = 1_024;

/** Starts a proxy in front of an account surface; resolves with its port once it takes connections. */
async function proxied(proxy: 'nginx' | 'caddy', account: number) {
  const listen = await freePort();
  const ports = { listen, unused: [await freePort(), await freePort()] as const, account };
  const { command, args, env, host, tls } = writeProxyConfig(proxy, folderInTest(), ports);
  const child = spawn(command, args, { stdio: 'ignore', env: { PATH: process.env.PATH ?? '', ...env } });
  onTestFinished(async () => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const gone = once(child, 'exit');
    child.kill('SIGKILL');
    await gone;
  });
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${listen}/`;
  // Any error but a refused connection comes from a proxy that listens.
  await until(async () => {
    const failed = await fetch(url).then(
      () => null,
      (error: unknown) => error,
    );
    return !(failed instanceof Error && JSON.stringify(failed.cause).includes('ECONNREFUSED'));
  }, `${proxy} to listen`);
  return { kind: 'proxied', port: listen, host, tls } as const;
}

describe.each(['nginx', 'caddy'] as const)('behind %s', (proxy) => {
  it.skipIf(lacks(proxy))(
    'honest readers among hostile clients are all answered, as documented, and memory stays within what the unit allows',
    async () => {
      const folder = folderInTest();
      await writeSiegeStore(folder, 20_000);
      const options = ['--no-handles', '--max-export-rows', '5000', '--trust-proxy', '1'];
      const program = startAccount(folder, options);
      const { port } = await program.listening();
      const { answers, peakMb } = await besiege({
        way: await proxied(proxy, port),
        targets: siegeTargets,
        hostile: 84,
        honest: 10,
        pid: program.child.pid ?? 0,
        stop: AbortSignal.timeout(15_000),
      });
      const wrong = ({ status, retryAfter }: HonestAnswer): boolean =>
        status !== 200 && !(status === 503 && retryAfter);
      expect(answers.filter(wrong)).toEqual([]);
      expect(answers.filter(({ status }) => status === 200)).not.toEqual([]);
      expect(peakMb).toBeLessThan(unitMb);
      program.child.kill('SIGTERM');
      expect(await program.ended()).toBe(0);
    },
    120_000,
  );
});
