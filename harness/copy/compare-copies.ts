import { createHash } from 'node:crypto';
import type { CopiedRow } from '../../src/store/copy/parts.ts';
import { openCopySource } from '../../src/store/open-copy.ts';
import { dayName } from '../../src/store/time.ts';

/** Number of rows of one day, and a hash over all fields of all rows in order. */
export interface HashedDay {
  readonly day: string;
  readonly rows: number;
  readonly hash: string;
}

/**
 * Returns a hash over every field of every row of each day. The function does not use the copy's own digest, so it can
 * detect an error in that digest.
 */
export async function hashedDays(url: string): Promise<HashedDay[]> {
  const source = await openCopySource(url);
  const found: HashedDay[] = [];
  for (const { day } of (await source.look()).days) {
    const hash = createHash('sha256');
    let rows = 0;
    await source.rows(day, -1, (chunk) => {
      rows += chunk.length;
      hash.update(chunk.map(textOf).join('\n'));
      return Promise.resolve();
    });
    found.push({ day: dayName(day), rows, hash: hash.digest('hex') });
  }
  await source.close();
  return found;
}

function textOf({ at, observation, identity }: CopiedRow): string {
  const { label, signature, live } = observation;
  const { ver, src, uri, cid, val, neg, cts, exp, sig, extra } = label;
  const bytes = (some: Uint8Array | undefined) => (some ? Buffer.from(some).toString('hex') : null);
  const fields = [ver, src, uri, cid, val, neg, cts, exp, bytes(sig), bytes(extra)];
  return JSON.stringify([at, signature, live, identity.toString('hex'), ...fields]);
}
