import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import type { AccountRow, ExportManifest } from '../../contract/account.ts';
import { canonicalJson } from '../../contract/encodings.ts';
import { firstDigest, nextDigest } from './digest.ts';

interface Vectors {
  readonly manifest: ExportManifest;
  readonly rows: readonly AccountRow[];
  readonly canonical: { readonly manifest: string; readonly rows: readonly string[] };
  readonly links: readonly string[];
  readonly content_sha256: string;
}

const vectors = JSON.parse(
  readFileSync(new URL('../../../docs/digest-vectors.json', import.meta.url), 'utf8'),
) as Vectors;

it('the canonical JSON and every digest of the chain equal the published test vectors', () => {
  const rows = vectors.rows.map(canonicalJson);
  expect({ manifest: canonicalJson(vectors.manifest), rows }).toEqual(vectors.canonical);
  const links = [firstDigest(vectors.manifest)];
  for (const row of rows) links.push(nextDigest(links.at(-1) ?? Buffer.alloc(0), row));
  expect(links.map((link) => link.toString('hex'))).toEqual(vectors.links);
  expect(vectors.links.at(-1)).toBe(vectors.content_sha256);
});
