import { hash } from 'node:crypto';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { duplicateHorizon } from '../port.ts';
import { hour } from '../time.ts';
import { IdentitySet } from './identity-set.ts';
import { keepIdentities, takeIdentities } from './kept-identities.ts';

const state = 'generation 1, revision 3';
const count = 30_000;

function identity(n: number): Buffer {
  return hash('sha256', String(n), 'buffer').subarray(0, 16);
}

/** Returns a set of identities that were accepted over two days, every seventh of which was deleted. */
function someSet(): IdentitySet {
  const set = new IdentitySet(duplicateHorizon);
  for (let n = 0; n < count; n += 1) set.add(identity(n), Math.floor((n / count) * 48 * hour));
  for (let n = 0; n < count; n += 7) set.delete(identity(n));
  return set;
}

/** Returns the first identities about which two sets differ. */
function differences(one: IdentitySet, other: IdentitySet): number[] {
  const all = Array.from({ length: 2 * count }, (_, n) => n);
  return all.filter((n) => one.has(identity(n)) !== other.has(identity(n))).slice(0, 5);
}

describe('the identities that a writer leaves to the next one', () => {
  let folder = '';
  let path = '';
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'almanac-identities-'));
    path = join(folder, 'identities.kept');
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  it('are the same set, which continues like the first one', async () => {
    const set = someSet();
    await keepIdentities(path, { identities: set, through: 99 }, state);
    const taken = takeIdentities(path, state);
    expect([taken?.through, taken?.identities.size, taken?.identities.bytes]).toEqual([99, set.size, set.bytes]);
    const restored = taken?.identities ?? new IdentitySet(duplicateHorizon);
    expect(differences(set, restored)).toEqual([]);
    for (const one of [set, restored]) {
      for (let n = count; n < count + 5_000; n += 1) one.add(identity(n), (48 + n / 1_000) * hour);
      for (let n = 1; n < count; n += 11) one.delete(identity(n));
    }
    expect([restored.size, differences(set, restored)]).toEqual([set.size, []]);
  });

  it('serve one start, and only their owner can read them', async () => {
    await keepIdentities(path, { identities: someSet(), through: 99 }, state);
    expect(statSync(path).mode & 0o777).toBe(0o600);
    expect([takeIdentities(path, state)?.through, takeIdentities(path, state), readdirSync(folder)]).toEqual([
      99,
      null,
      [],
    ]);
  });

  it('are removed without being used in another state of the store', async () => {
    await keepIdentities(path, { identities: someSet(), through: 99 }, state);
    expect([takeIdentities(path, 'generation 1, revision 4'), existsSync(path)]).toEqual([null, false]);
  });

  it.each<[string, (bytes: Buffer) => Buffer]>([
    ['is empty', () => Buffer.alloc(0)],
    ['was cut', (bytes) => bytes.subarray(0, bytes.length - 1)],
    ['was extended', (bytes) => Buffer.concat([bytes, Buffer.of(0)])],
    ['has another bit', (bytes) => Buffer.from(bytes.map((byte, at) => (at === bytes.length >> 1 ? byte ^ 1 : byte)))],
    ['is only a header', (bytes) => bytes.subarray(0, 100)],
  ])('are removed without being used if the file %s', async (_, damage) => {
    await keepIdentities(path, { identities: someSet(), through: 99 }, state);
    writeFileSync(path, damage(readFileSync(path)));
    expect([takeIdentities(path, state), readdirSync(folder)]).toEqual([null, []]);
  });

  it('are not kept if the file cannot be written', async () => {
    await keepIdentities(join(folder, 'missing', 'identities.kept'), { identities: someSet(), through: 99 }, state);
    expect(readdirSync(folder)).toEqual([]);
  });
});
