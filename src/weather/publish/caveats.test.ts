import { expect, test } from 'vitest';

import type { Silence } from '../window/store-schema.ts';
import { minutes, windowUs } from '../window/window.ts';
import { silenceCaveats } from './summary.ts';

const all = minutes([], [], 0, 100, 0);

/** Creates `count` silences of one minute each. The last silence ends before the newest minute. */
function silences(count: number): Silence[] {
  return Array.from({ length: count }, (_, n) => ({
    ...{ collection: 'like.create' as const },
    ...{ from: n * 3 * windowUs, to: (n * 3 + 1) * windowUs },
  }));
}

test.each<[number, string]>([
  [1, 'from 1970-01-01T00:00:00.000Z to 1970-01-01T00:01:00.000Z, while it sent others'],
  [2, 'from 1970-01-01T00:03:00.000Z to 1970-01-01T00:04:00.000Z, and at 1 other time before, while it sent others'],
  [3, 'from 1970-01-01T00:06:00.000Z to 1970-01-01T00:07:00.000Z, and at 2 other times before, while it sent others'],
])(
  'the silence caveat of a collection states the last silence and the number of earlier silences (silences: %i)',
  (count, text) => {
    expect(silenceCaveats(all, silences(count))).toEqual([
      expect.stringContaining(`The host sent no like.create events ${text}`),
    ]);
  },
);
