import { chownSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { operatorActions } from '../../../src/main/labels/labels-operator.ts';
import type { labelsSettings } from '../../../src/main/labels/labels-settings.ts';
import type { Values } from '../../../src/ops/setting.ts';

/** Id of the user who runs the instrument. */
const user = 65_534;
const asRoot = process.getuid?.() === 0;
const overview = '{"hold":false}';
let folder = '';

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'almanac-hold-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

test.skipIf(!asRoot).each(['hold', 'release'] as const)(
  'root cannot %s the facts of an instrument of another user, who could not replace a file of root',
  async (action) => {
    const path = join(folder, 'labels-overview.json');
    writeFileSync(path, overview);
    chownSync(path, user, user);
    const values = { artifacts: folder, reason: 'a key leaked' as string | null } as Values<typeof labelsSettings>;
    await expect(operatorActions[action](values, () => undefined, [])).rejects.toThrow(
      `${path} belongs to the user ${user}: run this command as that user`,
    );
    expect(readdirSync(folder)).toEqual(['labels-overview.json']);
    expect([readFileSync(path, 'utf8'), statSync(path).uid]).toEqual([overview, user]);
  },
);

test.skipIf(!asRoot)(
  'root is told to delete a hold of root that the user of the instrument cannot delete',
  async () => {
    const path = join(folder, 'labels-overview.json');
    const held = join(folder, 'labels-hold.json');
    const values = { artifacts: folder, reason: 'a key leaked' as string | null } as Values<typeof labelsSettings>;
    await operatorActions.hold(values, () => undefined, []);
    writeFileSync(path, overview);
    chownSync(path, user, user);
    await expect(operatorActions.release(values, () => undefined, [])).rejects.toThrow(
      `${path} belongs to the user ${user}: delete ${held}, then run this command as that user`,
    );
  },
);
