import { canonicalDid, isDid } from '../../contract/identifiers.ts';
import { isObject } from '../../input/json-object.ts';
import { inputLimits } from '../../input/limits.ts';
import type { HttpClient } from '../../network/http/http.ts';

/** Collection of the record by which an account declares that it is a labeler. */
export const labelerCollection = 'app.bsky.labeler.service';

const pageSize = 1_000;
const maxPages = 100;
/** Maximum total length of the DIDs that one relay may list, in characters: 100,000 DIDs of 80 characters. */
const maxCharacters = 8_000_000;

/** Labelers that a relay lists. */
export interface RelayListing {
  readonly dids: readonly string[];
  /** False if the list ends before the relay's last page; the listed DIDs are valid. */
  readonly complete: boolean;
}

/** Lists the accounts with a labeler record that a relay serves, page by page. Never rejects. */
export async function listLabelers(
  http: HttpClient,
  relay: string,
  { timeoutMs, signal }: { readonly timeoutMs: number; readonly signal: AbortSignal },
): Promise<RelayListing> {
  const dids = new Set<string>();
  const asked = new Set<string>();
  let cursor = '';
  let characters = 0;
  for (let pages = 0; pages < maxPages && !asked.has(cursor); pages += 1) {
    asked.add(cursor);
    const url = new URL('/xrpc/com.atproto.sync.listReposByCollection', relay);
    url.searchParams.set('collection', labelerCollection);
    url.searchParams.set('limit', String(pageSize));
    if (cursor !== '') url.searchParams.set('cursor', cursor);
    const { relayList: limits } = inputLimits;
    const answer = await http.getJson(url, { maxBytes: limits.bytes, shape: limits, timeoutMs, signal });
    if (answer.kind !== 'json' || !isObject(answer.value) || !Array.isArray(answer.value.repos)) break;
    for (const repo of answer.value.repos as unknown[]) {
      if (!isObject(repo) || typeof repo.did !== 'string' || !isDid(repo.did)) continue;
      const did = canonicalDid(repo.did);
      if (dids.has(did)) continue;
      characters += did.length;
      if (characters > maxCharacters) return { dids: [...dids], complete: false };
      dids.add(did);
    }
    const next = answer.value.cursor;
    if (typeof next !== 'string' || next === '') return { dids: [...dids], complete: true };
    cursor = next;
  }
  return { dids: [...dids], complete: false };
}
