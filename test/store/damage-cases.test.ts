import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { type Case, DamageCases, isBroken } from '../../harness/damage/cases.ts';

/** Number of damage cases. `npm run test:damage` runs 10,000. */
const cases = Number(process.env.ALMANAC_TEST_DAMAGE ?? 500);
const seed = Number(process.env.ALMANAC_TEST_DAMAGE_SEED ?? 1);

it(`the store opens each of ${cases} damaged files unchanged, or with a gap, or refuses it (seed ${seed})`, async () => {
  const folder = await mkdtemp(join(tmpdir(), 'almanac-damage-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const damaged = await DamageCases.make(folder, seed);
  const broken: Case[] = [];
  const verdicts = new Set<string>();
  for (let number = 0; number < cases; number++) {
    const one = await damaged.run(number);
    verdicts.add(one.verdict);
    if (isBroken(one)) broken.push(one);
  }
  expect(broken).toEqual([]);
  expect([...verdicts]).toEqual(expect.arrayContaining(['unchanged', 'refused', 'gap']));
});
