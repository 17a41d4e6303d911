import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';
import { windowDays } from '../../src/account/query/query.ts';
import { daysUntilExpiry } from '../../src/store/time.ts';

const textOf = (name: string): string => readFileSync(join(root, name), 'utf8');

it('the page for operators of labelers and docs/account.md state for how many days rows are shown, and within how many they are removed', () => {
  const days = daysUntilExpiry(windowDays) + 1;
  expect(textOf('docs/for-labelers.md')).toContain(`shown for ${windowDays} days from arrival`);
  expect(textOf('docs/account.md')).toContain(`a rolling window of ${windowDays} days`);
  for (const name of ['docs/for-labelers.md', 'docs/account.md'])
    expect(textOf(name), name).toMatch(new RegExp(`removed within ${days} days`));
  expect(textOf('docs/operations.md')).toContain(`by hand within ${days} days`);
});
