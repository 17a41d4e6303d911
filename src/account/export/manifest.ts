import { createHash } from 'node:crypto';
import { type AccountCoverage, accountExportSchema, type ExportManifest } from '../../contract/account.ts';
import { formatMicros, formatTimestamp, microsFromMillis } from '../../contract/timestamp.ts';
import type { Origin } from '../../contract/vocabulary.ts';
import { storeOrigin } from '../../store/origin.ts';
import type { Epoch } from '../../store/port.ts';
import { removalSentence } from '../../store/removals.ts';
import { micros } from '../../store/time.ts';
import { cursorBytes } from '../cursor/cursor-bytes.ts';
import type { AccountStore } from '../query/account-store.ts';
import { readCoverage } from '../query/coverage.ts';
import { firstDigest } from '../query/digest.ts';
import type { Snapshot } from '../query/snapshot.ts';

/** Builds the manifest of a snapshot. */
export function manifestOf(
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
    // The next export starts here: a later start would miss rows after this export's end.
    frontier: formatMicros(micros(Math.min(snapshot.frontier, snapshot.end))),
    count_bound: snapshot.countBound,
    current_label_state: 'unknown',
    page_rows: snapshot.pageRows,
    created_at: formatTimestamp(snapshot.createdAt),
    expires_at: formatTimestamp(snapshot.expiresAt),
    ...(removed === null ? {} : { caveats: [removed] }),
  };
}

/** A manifest as sent, and the first link of its export's digest. */
export interface WrittenManifest {
  /** As JSON. */
  readonly text: string;
  readonly digest: Buffer;
}

/**
 * Maximum number of cached manifests, and of their characters: with hundreds of labelers with gaps, one manifest has a
 * million characters.
 */
const remembered = 256;
const rememberedLength = 32 * 1024 * 1024;

/** Cache of manifests by snapshot. */
export interface Manifests {
  /** Returns the manifest of a snapshot: the first one while it is cached, otherwise one with the current coverage. */
  of(store: AccountStore, snapshot: Snapshot): Promise<WrittenManifest>;
}

/**
 * Caches manifests, so that all pages of an export have the manifest of its creation: coverage is current when it is
 * read, and a gap may be recorded during an export. A process without the cached manifest reads coverage again; the
 * digest remains that of the first manifest.
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
      const removed = removalSentence(await store.purges());
      const of = { epoch: await store.epoch(), origin: await storeOrigin(store), removed };
      const manifest = manifestOf(snapshot, coverage, of);
      const written = { text: JSON.stringify(manifest), digest: firstDigest(manifest) };
      // Two concurrent requests both read it; the later one is kept.
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
