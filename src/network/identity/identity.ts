import { isDid } from '../../contract/identifiers.ts';
import { inputLimits } from '../../input/limits.ts';
import { createSharedCache } from '../guard/shared-cache.ts';
import type { HttpClient, JsonAnswer } from '../http/http.ts';
import { type EarlierLabelKey, parseEarlierLabelKeys } from './audit-log.ts';
import { type DidDocument, type InvalidDocument, parseDidDocument } from './did-document.ts';

/** Result of resolving a DID document. */
export type Resolution =
  /** `replica`: the primary directory did not respond, and a replica did, which may be behind it. */
  | { readonly kind: 'resolved'; readonly document: DidDocument; readonly replica?: true }
  /** The DID does not exist (404), or was deactivated (410). */
  | { readonly kind: 'not_found'; readonly status: 404 | 410 }
  | { readonly kind: 'invalid_document'; readonly reason: InvalidDocument }
  /** No document came, and another time one may: `answer` is what came instead. */
  | { readonly kind: 'failed'; readonly answer: Exclude<JsonAnswer, { kind: 'json' }> };

/** Settings of an identity resolver; all times in milliseconds. */
export interface IdentityOptions {
  /** Asks the directory, and hosts of did:web unless `web` is given. */
  readonly http: HttpClient;
  /** Asks hosts of did:web, which strangers choose: however many of them hang, the directory is asked as before. */
  readonly web?: { readonly http: HttpClient; readonly timeoutMs: number };
  /** The primary directory of did:plc. */
  readonly plcUrl?: string;
  /** Replicas of the directory, in the order in which they are asked when the primary does not respond (none). */
  readonly plcReplicas?: readonly string[];
  /** The guard's policy: with loopback allowed, documents may be served and endpoints named in plain http. */
  readonly policy: { readonly allowLoopback: boolean };
  /** Lifetime of a cached resolution (300,000); failures are not cached. */
  readonly ttlMs?: number;
  /** Answers kept (10,000). */
  readonly maxEntries?: number;
  /** For each document (10,000). */
  readonly timeoutMs?: number;
  /** Milliseconds, from any origin. */
  readonly clock: () => number;
}

/** Finds out who a DID is. */
export interface IdentityResolver {
  /**
   * The document of a did:plc or did:web. `fresh` asks even where an answer is kept, for when the old one proved wrong.
   * Callers that ask for one DID at the same time share one request; it ends when all of them have given up.
   * `privileged`: slots that are reserved may serve it. Never rejects.
   */
  resolve(did: string, options: { signal: AbortSignal; fresh?: boolean; privileged?: boolean }): Promise<Resolution>;
  /**
   * The label keys that a did:plc had before its current one, newest first, from the directory's audit log; empty for
   * other methods, which have no log. Null when the directory gave no usable log. Never rejects.
   */
  earlierLabelKeys(
    did: string,
    options: { signal: AbortSignal; privileged?: boolean },
  ): Promise<readonly EarlierLabelKey[] | null>;
}

/** The public directory of did:plc. */
export const defaultPlcUrl = 'https://plc.directory';

/** Maximum lifetime of a replica's document in the cache, in milliseconds: the primary may know a newer one. */
const replicaTtlMs = 60_000;

/** Makes a resolver with its own bounded cache. It ends with its client. */
export function createIdentityResolver(options: IdentityOptions): IdentityResolver {
  const { http, plcUrl = defaultPlcUrl, policy, ttlMs = 300_000, timeoutMs = 10_000, clock } = options;
  const directories = [plcUrl, ...(options.plcReplicas ?? [])];
  const cache = createSharedCache<Resolution>({
    ttlOf: (resolution) => {
      if (resolution.kind === 'failed') return 0;
      return resolution.kind === 'resolved' && resolution.replica ? Math.min(ttlMs, replicaTtlMs) : ttlMs;
    },
    maxEntries: options.maxEntries ?? 10_000,
    clock,
    gaveUp: { kind: 'failed', answer: { kind: 'aborted' } },
  });

  const directory = { http, timeoutMs };
  const { web = directory } = options;

  async function get(url: string, did: string, { signal, privileged }: Question): Promise<Resolution> {
    const host = did.startsWith('did:web:') ? web : directory;
    const answer = await host.http.getJson(url, {
      maxBytes: inputLimits.didDocument.bytes,
      shape: inputLimits.didDocument,
      timeoutMs: host.timeoutMs,
      signal,
      peer: { source: did, privileged },
      accept: 'application/did+ld+json, application/json',
    });
    if (answer.kind === 'status' && (answer.status === 404 || answer.status === 410)) {
      return { kind: 'not_found', status: answer.status };
    }
    if (answer.kind !== 'json') return { kind: 'failed', answer };
    const parsed = parseDidDocument(answer.value, did, { allowHttp: policy.allowLoopback });
    if (parsed.kind === 'invalid') return { kind: 'invalid_document', reason: parsed.reason };
    return { kind: 'resolved', document: parsed.document };
  }

  async function ask(did: string, question: Question): Promise<Resolution> {
    if (did.startsWith('did:web:')) return get(didWebUrl(did, policy.allowLoopback), did, question);
    const [primary = defaultPlcUrl, ...replicas] = directories;
    const first = await get(didPlcUrl(primary, did), did, question);
    if (first.kind !== 'failed' || isOurs(first.answer)) return first;
    for (const replica of replicas) {
      const found = await get(didPlcUrl(replica, did), did, question);
      // A replica is behind: a document that it does not have may exist, and only the primary can say that it does not.
      if (found.kind === 'resolved') return { ...found, replica: true };
    }
    return first;
  }

  return {
    async resolve(did, { signal, fresh = false, privileged = false }) {
      if (!isDid(did)) return { kind: 'invalid_document', reason: 'unsupported_did' };
      return cache.get(did, (shared) => ask(did, { signal: shared, privileged }), { signal, fresh });
    },
    async earlierLabelKeys(did, { signal, privileged = false }) {
      if (!isDid(did) || !did.startsWith('did:plc:')) return [];
      for (const url of directories) {
        const answer = await http.getJson(`${didPlcUrl(url, did)}/log/audit`, {
          maxBytes: inputLimits.auditLog.bytes,
          shape: inputLimits.auditLog,
          timeoutMs,
          signal,
          peer: { source: did, privileged },
        });
        if (answer.kind === 'json') return parseEarlierLabelKeys(answer.value, did);
        if (isOurs(answer)) return null;
      }
      return null;
    },
  };
}

/** Circumstances of one look-up. */
interface Question {
  readonly signal: AbortSignal;
  readonly privileged: boolean;
}

/** Returns true if our own limits, or a caller that gave up, ended a request: no other directory would help. */
function isOurs({ kind }: Exclude<JsonAnswer, { kind: 'json' }>): boolean {
  return kind === 'busy' || kind === 'aborted';
}

/** A did:plc is base32, so it needs no escaping. */
function didPlcUrl(plcUrl: string, did: string): string {
  return `${plcUrl.replace(/\/+$/, '')}/${did}`;
}

/** Only `localhost` may carry a port (AT Protocol, DID); with loopback allowed it is asked in plain http. */
function didWebUrl(did: string, allowLoopback: boolean): string {
  const host = did.slice('did:web:'.length).replace(/%3A/i, ':');
  const local = host === 'localhost' || host.startsWith('localhost:');
  return `${local && allowLoopback ? 'http' : 'https'}://${host}/.well-known/did.json`;
}
