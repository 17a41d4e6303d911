import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { claimOrigin, storeOrigin } from './origin.ts';
import { openSqliteWriter, type SqliteWriter } from './sqlite/write/writer.ts';
import { micros } from './time.ts';

let folder = '';
let store: SqliteWriter;
const at = micros(Date.UTC(2026, 6, 4) * 1000);

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-origin-'));
  store = openSqliteWriter({ folder, at });
});
afterEach(async () => {
  await store.close();
  rmSync(folder, { recursive: true, force: true });
});

it.each(['live', 'simulated'] as const)(
  'a new store has the origin that its first instrument claims (%s)',
  async (origin) => {
    await claimOrigin(store, origin);
    expect(await storeOrigin(store)).toBe(origin);
    await claimOrigin(store, origin);
  },
);

it.each([
  ['live', 'simulated'],
  ['simulated', 'live'],
] as const)(
  'a new store that an instrument claimed as %s cannot be claimed as %s before its first use',
  async (origin, other) => {
    await claimOrigin(store, origin);
    expect(await store.note('origin')).toBe(origin);
    await expect(claimOrigin(store, other)).rejects.toMatchObject({ code: 'wrong_origin' });
  },
);

it('a store with an accepted batch but no origin note counts as live', async () => {
  await store.append({ at, observations: [], refusals: [], positions: [] });
  expect(await storeOrigin(store)).toBe('live');
  await expect(claimOrigin(store, 'simulated')).rejects.toMatchObject({ code: 'wrong_origin' });
  expect(await storeOrigin(store)).toBe('live');
});

it('an instrument refuses a store of a different origin, even if the store is empty', async () => {
  await claimOrigin(store, 'simulated');
  await expect(claimOrigin(store, 'live')).rejects.toMatchObject({ code: 'wrong_origin' });
});
