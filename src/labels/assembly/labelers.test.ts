import { expect, test } from 'vitest';
import { answered, asked } from '../../../harness/labels/reading-events.ts';
import { micros } from '../../store/time.ts';
import { maxKnown, Roster } from '../roster/roster.ts';
import { operationHandler } from './labelers.ts';

const host = 'plc.example';
const base32 = 'abcdefghijklmnopqrstuvwxyz234567';

/** Returns the did:plc whose base 32 digits encode a number. */
function did(n: number): string {
  const digits = Array.from({ length: 24 }, (_, i) => base32[Math.floor(n / 32 ** (23 - i)) % 32] ?? 'a');
  return `did:plc:${digits.join('')}`;
}

function rosterOfStrangers() {
  const asked: string[] = [];
  const roster = new Roster({
    identities: {
      resolve: async (one) => {
        asked.push(one);
        return { kind: 'not_found', status: 404 };
      },
    },
    clock: () => micros(1_780_000_000_000_000),
    wait: (_, signal) =>
      new Promise((resolve) => {
        if (signal.aborted) resolve();
        signal.addEventListener('abort', () => resolve(), { once: true });
      }),
    ...{ refreshMs: 86_400_000, retryMs: 60_000, freshMs: 60_000, changed: () => undefined },
  });
  return { roster, asked, operate: operationHandler(roster, host) };
}

test('an operation that declares a labeler service adds the labeler, and an operation without such a service adds nothing', () => {
  const { roster, operate } = rosterOfStrangers();
  operate({ did: did(1), isLabeler: false });
  operate({ did: did(2), isLabeler: true });
  expect([...roster.labelers].map((labeler) => [labeler.did, labeler.origin, [...labeler.provenance]])).toEqual([
    [did(2), 'discovered', ['directory plc.example']],
  ]);
});

test('an operation of a known labeler triggers a read of its document, even if the operation removes the service', async () => {
  const { roster, asked, operate } = rosterOfStrangers();
  const stop = new AbortController();
  roster.add(did(1), 'seeded', 'seeds');
  const run = roster.run(stop.signal);
  await expect.poll(() => asked.length).toBe(1);
  operate({ did: did(1), isLabeler: false });
  await expect.poll(() => asked.length).toBe(2);
  operate({ did: did(1), isLabeler: true });
  expect([...(roster.labeler(did(1))?.provenance ?? [])]).toEqual(['seeds', 'directory plc.example']);
  stop.abort();
  await run;
});

test('seeded and established labelers are not evicted if the directory is flooded with new labelers', () => {
  const { roster, operate } = rosterOfStrangers();
  const day = 86_400_000_000;
  roster.add(did(0), 'discovered', 'relay r.example');
  const established = roster.labeler(did(0))?.tracker;
  established?.apply(asked(micros(1_780_000_000_000_000 - 8 * day)));
  established?.apply(answered(micros(1_780_000_000_000_000 - 8 * day), { dated: 1, undated: 0 }));
  for (let n = 1; n <= maxKnown + 5_000; n += 1) operate({ did: did(n), isLabeler: true });
  roster.add('did:web:seed.example.com', 'seeded', 'seeds');
  expect([...roster.labelers]).toHaveLength(maxKnown);
  expect(roster.dropped).toBe(5_001);
  expect([roster.labeler(did(0)), roster.labeler('did:web:seed.example.com')]).not.toContain(undefined);
});
