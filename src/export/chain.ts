import { createHash } from 'node:crypto';
import { canonicalJson } from '../contract/canonical.ts';

/** Digest of the part of an export received so far; after the last row it equals the export's `content_sha256`. */
export interface Chain {
  /** Adds a row to the digest; returns the row's canonical text. */
  add(row: object): string;
  /** Number of added rows. */
  readonly count: number;
  /** Current digest, in lower-case hex. */
  readonly sha256: string;
}

/** Creates the digest chain of an export from its manifest. */
export function startChain(manifest: object): Chain {
  let digest = createHash('sha256').update(canonicalJson(manifest)).digest();
  let count = 0;
  return {
    add(row) {
      const text = canonicalJson(row);
      digest = createHash('sha256').update(digest).update(text).digest();
      count += 1;
      return text;
    },
    get count() {
      return count;
    },
    get sha256() {
      return digest.toString('hex');
    },
  };
}
