import type { FindHandle } from '../../account/page/handle.ts';
import { createNameResolver, systemHostsFile } from '../../network/dns/name-resolver.ts';
import { createHttpClient } from '../../network/http/http.ts';
import { createIdentityResolver } from '../../network/identity/identity.ts';
import { resolveHandle } from '../../network/identity/resolve-handle.ts';
import type { Directories } from '../plc-setting.ts';

/**
 * Creates a function that resolves handles through the guarded client, and a function that closes the client's
 * connections. Only a few resolutions run concurrently, because any client can cause one.
 */
export function handleFinder(
  { plc: plcUrl, plcReplicas }: Directories,
  userAgent: string,
): { readonly find: FindHandle; close(): Promise<void> } {
  const policy = { allowLoopback: false };
  const own = createNameResolver({ hostsFile: systemHostsFile });
  const strangers = createNameResolver({ hostsFile: null, total: 32, perDomain: 4 });
  const bounds = { policy, total: 8, perHost: 2, maxWaiting: 64, userAgent };
  const http = createHttpClient({ ...bounds, perDomain: 4, resolve: strangers.resolve });
  // Use a separate client for the directory, because untrusted hosts named in handles may hang and must not delay
  // requests to the directory.
  const directory = createHttpClient({ ...bounds, perHost: 4, resolve: own.resolve });
  const web = { http, timeoutMs: 5_000 };
  const identity = createIdentityResolver({ http: directory, web, plcUrl, plcReplicas, policy, clock: Date.now });
  const { resolveTxt } = strangers;
  return {
    find: (handle, signal) => resolveHandle(handle, { http, identity, resolveTxt }, signal),
    async close() {
      await Promise.all([http.close(), directory.close()]);
    },
  };
}
