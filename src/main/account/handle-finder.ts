import { performance } from 'node:perf_hooks';
import type { FindHandle } from '../../account/page/pages.tsx';
import { createNameResolver, systemHostsFile } from '../../network/dns/name-resolver.ts';
import { createHttpClient } from '../../network/http/http.ts';
import { createIdentityResolver, resolveHandle } from '../../network/identity/identity.ts';
import type { Values } from '../../ops/setting.ts';
import { directoriesOf, userAgentFor } from '../shared-settings.ts';
import type { accountSettings } from './account-settings.ts';

type FinderSettings = Pick<Values<typeof accountSettings>, 'plc' | 'contact'>;

/**
 * Creates a function that resolves handles through the guarded client, and a function that closes the client's
 * connections. Only a few resolutions run concurrently, because any client can cause one.
 */
export function handleFinder(settings: FinderSettings): { readonly find: FindHandle; close(): Promise<void> } {
  const { plc: plcUrl, plcReplicas } = directoriesOf(settings.plc);
  const policy = { allowLoopback: false };
  const own = createNameResolver({ hostsFile: systemHostsFile });
  const strangers = createNameResolver({ hostsFile: null, total: 32, perDomain: 4 });
  const bounds = { policy, total: 8, perHost: 2, maxWaiting: 64, userAgent: userAgentFor(settings) };
  const http = createHttpClient({ ...bounds, perDomain: 4, resolve: strangers.resolve });
  // Use a separate client for the directory, because untrusted hosts named in handles may hang and must not delay
  // requests to the directory.
  const directory = createHttpClient({ ...bounds, perHost: 4, resolve: own.resolve });
  const web = { http, timeoutMs: 5_000 };
  const clock = () => performance.now();
  const identity = createIdentityResolver({ http: directory, web, plcUrl, plcReplicas, policy, clock });
  const { resolveTxt } = strangers;
  return {
    find: (handle, signal) => resolveHandle(handle, { http, identity, resolveTxt }, signal),
    async close() {
      await Promise.all([http.close(), directory.close()]);
    },
  };
}
