import type { FindHandle } from '../account/page/handle.ts';
import { createHttpClient } from '../network/http.ts';
import { createIdentityResolver } from '../network/identity.ts';
import { createNameResolver, systemHostsFile } from '../network/name-resolver.ts';
import { resolveHandle } from '../network/resolve-handle.ts';

/** Looks handles up through the guarded client; few at a time, as strangers ask for it. */
export function handleFinder(plcUrl: string, userAgent: string): { readonly find: FindHandle; close(): Promise<void> } {
  const policy = { allowLoopback: false };
  const own = createNameResolver({ hostsFile: systemHostsFile });
  const strangers = createNameResolver({ hostsFile: null, total: 32, perDomain: 4 });
  const bounds = { policy, total: 8, perHost: 2, maxWaiting: 64, userAgent };
  const http = createHttpClient({ ...bounds, perDomain: 4, resolve: strangers.resolve });
  // Hosts that strangers name may hang; the directory answers all the same.
  const directory = createHttpClient({ ...bounds, perHost: 4, resolve: own.resolve });
  const web = { http, timeoutMs: 5_000 };
  const identity = createIdentityResolver({ http: directory, web, plcUrl, policy, clock: Date.now });
  const { resolveTxt } = strangers;
  return {
    find: (handle, signal) => resolveHandle(handle, { http, identity, resolveTxt }, signal),
    async close() {
      await Promise.all([http.close(), directory.close()]);
    },
  };
}
