import { describe, expect, it } from 'vitest';
import { startAccount } from '../../harness/accounts/account.ts';
import { besiege, type HonestAnswer, unitEnvironment } from '../../harness/accounts/account-siege.ts';
import { siegeTargets, writeSiegeStore } from '../../harness/accounts/account-siege-store.ts';
import { freePort } from '../../harness/net/ports.ts';
import { writeAccountProxy } from '../../harness/net/proxy-config.ts';
import { folderInTest } from '../../harness/process/folder.ts';
import { startForeignInTest } from '../../harness/process/program-in-test.ts';
import { lacks } from '../../harness/process/tools.ts';
import { until } from '../../harness/process/until.ts';

/** Tests the account surface with hostile clients, behind proxies with the configurations in `deploy/`. */

/** Maximum total memory of the service's processes, in MB. The systemd unit allows twice as much. */
const maxMb = 500;

/** Starts a proxy in front of an account surface. Resolves with the proxy's port once the proxy accepts connections. */
async function proxied(proxy: 'nginx' | 'caddy', account: number) {
  const listen = await freePort();
  const ports = { listen, unused: [await freePort(), await freePort()] as const, account };
  const { command, args, env, host, tls } = writeAccountProxy(proxy, folderInTest(), ports);
  const program = startForeignInTest(command, args, {
    env: { PATH: process.env.PATH ?? '', ...env },
    signal: 'SIGKILL',
  });
  const url = `${tls ? 'https' : 'http'}://127.0.0.1:${listen}/`;
  // Any error other than a refused connection proves that the proxy is listening.
  await until(`${proxy} to listen`, async () => {
    program.assertRuns();
    const failed = await fetch(url).then(
      () => null,
      (error: unknown) => error,
    );
    return !(failed instanceof Error && JSON.stringify(failed.cause).includes('ECONNREFUSED'));
  });
  return { kind: 'proxied', port: listen, host, tls } as const;
}

describe.each(['nginx', 'caddy'] as const)('the account surface behind the proxy %s', (proxy) => {
  it.skipIf(lacks(proxy))(
    'sends the documented responses to all honest readers among hostile clients, with bounded memory',
    async () => {
      const folder = folderInTest();
      await writeSiegeStore(folder, 20_000);
      const options = ['--no-handles', '--max-export-rows', '5000', '--trust-proxy', '1'];
      const program = startAccount(folder, options, unitEnvironment);
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
      expect(peakMb).toBeLessThan(maxMb);
      program.child.kill('SIGTERM');
      expect(await program.ended()).toBe(0);
    },
  );
});
