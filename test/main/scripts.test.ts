import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';

const { scripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };

it('an npm script that installs the runtime runs TypeScript with that runtime, not with the one that the shell remembers', () => {
  // A shell remembers where it found `node` before the install, whereas `env` looks it up again.
  const remembered = Object.entries(scripts).filter(([, line]) => /ready\.mjs && node \S+\.ts/.test(line));
  expect(remembered).toEqual([]);
});
