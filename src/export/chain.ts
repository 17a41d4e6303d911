import { createHash } from 'node:crypto';
import { canonicalJson } from '../contract/canonical.ts';

/** The digest of an export as it grows: it ends as the `content_sha256` of its rows in their order. */
export interface Chain {
  /** Adds a row; returns its canonical text, which is what was digested. */
  add(row: object): string;
  /** Rows so far. */
  readonly count: number;
  /** In lower-case hex. */
  readonly sha256: string;
}

/** Begins the chain of an export with its manifest. */
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
