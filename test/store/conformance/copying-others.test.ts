import { expect, it } from 'vitest';
import { describeCopies, eachOnce, otherDirections } from '../../../harness/conformance/copying.ts';
import { kinds } from '../../../harness/conformance/suite.ts';

// `copying.test.ts` tests the directions in `eachOnce`.
describeCopies(otherDirections);

it('all directions between two implementations of the store are tested', () => {
  expect(new Set([...eachOnce, ...otherDirections].map(({ from, to }) => `${from.name} ${to.name}`)).size).toBe(
    kinds.length ** 2,
  );
});
