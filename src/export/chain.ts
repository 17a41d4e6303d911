import { createHash } from 'node:crypto';
import { canonicalJson } from '../contract/canonical.ts';

/** The digest of an export so far; after the last row it equals the `content_sha256`. */
export interface Chain {
  /** Adds a row; returns its canonical text, which the digest includes. */
  add(row: object): string;
  /** Number of rows so far. */
  readonly count: number;
  /** In lower-case hex. */
  readonly sha256: string;
}

/** Starts the chain of an export with its manifest. */
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
