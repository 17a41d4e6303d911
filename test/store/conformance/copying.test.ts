import { expect, it } from 'vitest';
import { describeCopies, eachOnce } from '../../../harness/conformance/copying.ts';
import { kinds } from '../../../harness/conformance/suite.ts';

// `copying-others.test.ts` tests the other directions.
describeCopies(eachOnce);

it('the tested copies use each implementation of the store once as the source and once as the target', () => {
  expect(eachOnce.map(({ from }) => from)).toEqual(kinds);
  expect(new Set(eachOnce.map(({ to }) => to))).toEqual(new Set(kinds));
});
