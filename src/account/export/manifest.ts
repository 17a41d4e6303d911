import { createHash } from 'node:crypto';
import { type AccountCoverage, accountExportSchema, type ExportManifest } from '../../contract/account.ts';
import { formatMicros, formatTimestamp, microsFromMillis } from '../../contract/timestamp.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import { storeOrigin } from '../../store/origin.ts';
import type { Epoch } from '../../store/port.ts';
import { removedRowsSentence } from '../../store/removals.ts';
import { micros } from '../../store/time.ts';
import { cursorBytes, type Snapshot } from '../cursor/cursor.ts';
import type { AccountStore } from '../query/account-store.ts';
import { readCoverage } from '../query/coverage.ts';
import { firstDigest } from './rows.ts';

/** Creates the manifest of a snapshot with its coverage. */
function manifestOf(
  snapshot: Snapshot,
  coverage: AccountCoverage,
  { epoch, origin, removed }: { readonly epoch: Epoch; readonly origin: Origin; readonly removed: string | null },
): ExportManifest {
  return {
    schema: accountExportSchema,
    ...(origin === 'live' ? {} : { origin }),
    account: snapshot.account,
    interval: { start: formatMicros(snapshot.start), end: formatMicros(snapshot.end), end_exclusive: true },
    clipped: snapshot.clipped,
    filters: { ...snapshot.filters },
    coverage,
    acquisition: {
      generation_id: epoch.generationId,
      started_at: formatMicros(epoch.startedAt),
      basis: 'local_acceptance_clock',
    },
    // Limit the frontier to the end of the interval: the next export starts at the frontier, and would otherwise omit
    // rows accepted between the end and the frontier.
    frontier: formatMicros(micros(Math.min(snapshot.frontier, snapshot.end))),
    count_bound: snapshot.countBound,
    current_label_state: 'unknown',
    page_rows: snapshot.pageRows,
    created_at: formatTimestamp(snapshot.createdAt),
    expires_at: formatTimestamp(snapshot.expiresAt),
    ...(removed === null ? {} : { caveats: [removed] }),
  };
}

/** A serialized manifest and its digest, which is the first digest of the export's chain. */
export interface WrittenManifest {
  /** The manifest as JSON. */
  readonly text: string;
  readonly digest: Buffer;
}

/** Maximum number of cached manifests. */
const remembered = 256;
/**
 * Maximum number of characters in all cached manifests. A manifest with the gaps of hundreds of labelers has a million
 * characters.
 */
const rememberedLength = 32 * 1024 * 1024;

/** Cache of manifests by snapshot. */
export interface Manifests {
  /** Returns the cached manifest of a snapshot, or creates one with the current coverage. */
  of(store: AccountStore, snapshot: Snapshot): Promise<WrittenManifest>;
}

/**
 * Creates a cache of manifests, so that all pages of an export have the same manifest even if a gap is recorded during
 * the export. A process that has not cached the manifest reads the coverage again; the digest still covers the first
 * manifest.
 */
export function rememberManifests(): Manifests {
  const known = new Map<string, WrittenManifest>();
  let length = 0;
  return {
    async of(store, snapshot) {
      const key = createHash('sha256')
        .update(cursorBytes({ kind: 'snapshot', snapshot }))
        .digest('base64');
      const found = known.get(key);
      if (found) return found;
      const { start, end, askedStart, filters, createdAt } = snapshot;
      const coverage = await readCoverage(store, {
        interval: { start, end },
        askedStart,
        labeler: filters.labeler,
        now: microsFromMillis(createdAt),
      });
      const removed = await removedRowsSentence(store);
      const of = { epoch: await store.epoch(), origin: await storeOrigin(store), removed };
      const manifest = manifestOf(snapshot, coverage, of);
      const written = { text: JSON.stringify(manifest), digest: firstDigest(manifest) };
      // If two concurrent requests create the same manifest, the second result replaces the first result in the
      // cache.
      length += written.text.length - (known.get(key)?.text.length ?? 0);
      known.set(key, written);
      for (const [old, { text }] of known) {
        if (known.size <= remembered && length <= rememberedLength) break;
        known.delete(old);
        length -= text.length;
      }
      return written;
    },
  };
}
