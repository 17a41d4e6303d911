import { join } from 'node:path';
import { expect, it } from 'vitest';
import { factsDocuments } from '../../src/facts/documents.ts';
import { packageRoot } from '../../src/main/command.ts';

/**
 * Maximum total size of the files of each page in bytes: without compression, and compressed with Brotli. Each limit is
 * the total size before translations, archive charts and anchors were added to these files.
 */
const limits = [
  [
    'the observatory page',
    ['/assets/almanac.css', '/assets/observatory.css', '/assets/observatory.js'],
    67_787,
    21_194,
  ],
  [
    'the pages about labelers',
    ['/assets/almanac.css', '/assets/observatory.css', '/assets/labelers.css'],
    13_445,
    4_060,
  ],
  ['the API reference', ['/docs', '/assets/almanac.css', '/assets/docs.css', '/assets/docs.js'], 1_922_280, 379_563],
  ['the compatibility policy', ['/policy', '/assets/almanac.css'], 10_950, 3_766],
  ['the page for operators of labelers', ['/for-labelers', '/assets/almanac.css'], 8_902, 3_093],
] as const;

const { answer } = factsDocuments(join(packageRoot(), 'assets'), [], '', { userAgent: 'Almanac', contact: null });
const lengthOf = (path: string, coding: 'identity' | 'br'): number => answer(path, coding)?.reply.body?.length ?? 0;

it.each(limits)('the files of %s stay within their limits', async (_page, paths, plain, compressed) => {
  const sum = (coding: 'identity' | 'br'): number => paths.reduce((bytes, path) => bytes + lengthOf(path, coding), 0);
  for (const path of paths) expect(lengthOf(path, 'br'), path).toBeGreaterThan(0);
  expect(sum('identity')).toBeLessThanOrEqual(plain);
  // Poll, because a thread later replaces the compressed form of a file with a smaller form.
  await expect.poll(() => sum('br')).toBeLessThanOrEqual(compressed);
});
