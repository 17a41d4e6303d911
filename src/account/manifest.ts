import { createHash } from 'node:crypto';
import { type AccountCoverage, accountExportSchema, type ExportManifest } from '../contract/account.ts';
import { formatMicros, formatTimestamp, microsFromMillis } from '../contract/timestamp.ts';
import type { Origin } from '../contract/vocabulary.ts';
import { storeOrigin } from '../store/origin.ts';
import type { Epoch } from '../store/port.ts';
import { removalSentence } from '../store/removals.ts';
import { micros } from '../store/time.ts';
import type { AccountStore } from './account-store.ts';
import { readCoverage } from './coverage.ts';
import { cursorBytes } from './cursor-bytes.ts';
import { firstDigest } from './digest.ts';
import type { Snapshot } from './snapshot.ts';

/** The manifest of a snapshot. */
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
    // The next export starts here: beyond the end of this one it would pass by rows that neither has.
    frontier: formatMicros(micros(Math.min(snapshot.frontier, snapshot.end))),
    count_bound: snapshot.countBound,
    current_label_state: 'unknown',
    page_rows: snapshot.pageRows,
    created_at: formatTimestamp(snapshot.createdAt),
    expires_at: formatTimestamp(snapshot.expiresAt),
    ...(removed === null ? {} : { caveats: [removed] }),
  };
}

/** A manifest as it is sent, and the first link of the digest of its export. */
export interface WrittenManifest {
  /** JSON. */
  readonly text: string;
  readonly digest: Buffer;
}

/** Most manifests that are remembered, and most characters of them: with hundreds of labelers, each with gaps, one has a million. */
const remembered = 256;
const rememberedLength = 32 * 1024 * 1024;

/** Manifests by snapshot. */
export interface Manifests {
  /** The manifest of a snapshot: as it was made first, as long as it is remembered; else as it is read now. */
  of(store: AccountStore, snapshot: Snapshot): Promise<WrittenManifest>;
}

/**
 * Remembers manifests, so that the pages of an export carry the very one that it was created with: coverage is of the
 * instant that it is read, and a gap may be recorded while an export is followed. A process without the cached
 * manifest reads coverage again; the digest stays that of the first manifest.
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
      // Asked twice at once it is read twice; the later one stays.
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
