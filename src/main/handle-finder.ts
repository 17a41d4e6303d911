import { resolveTxt } from 'node:dns/promises';
import type { FindHandle } from '../account/page/handle.ts';
import { createHttpClient } from '../network/http.ts';
import { createIdentityResolver } from '../network/identity.ts';
import { resolveHandle } from '../network/resolve-handle.ts';

/** Looks handles up through the guarded client; few at a time, as strangers ask for it. */
export function handleFinder(plcUrl: string): { readonly find: FindHandle; close(): Promise<void> } {
  const policy = { allowLoopback: false };
  const http = createHttpClient({ policy, total: 8, perHost: 2, maxWaiting: 64, userAgent: 'almanac' });
  const identity = createIdentityResolver({ http, plcUrl, policy, clock: Date.now });
  return {
    find: (handle, signal) => resolveHandle(handle, { http, identity, resolveTxt }, signal),
    close: () => http.close(),
  };
}
