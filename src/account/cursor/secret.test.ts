import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { readSecrets } from './secret.ts';

function folder(): string {
  const made = mkdtempSync(join(tmpdir(), 'almanac-secret-'));
  onTestFinished(() => rmSync(made, { recursive: true, force: true }));
  return made;
}

it('readSecrets creates a missing secret file that only its owner can read, and later reuses it', () => {
  const path = join(folder(), 'data', 'account-secret');
  const made = readSecrets(path);
  expect(statSync(path).mode & 0o777).toBe(0o600);
  expect(readSecrets(path)).toEqual(made);
  expect(readFileSync(path, 'utf8')).toBe(`${made[0].toString('hex')}\n`);
  expect(readdirSync(join(path, '..'))).toEqual(['account-secret']);
});

it('readSecrets accepts a file with two secrets, and returns them in the order of the file, the current secret first', () => {
  const path = join(folder(), 'secret');
  writeFileSync(path, `${'ab'.repeat(32)}\n${'CD'.repeat(32)}\n\n`);
  expect(readSecrets(path)).toEqual([Buffer.alloc(32, 0xab), Buffer.alloc(32, 0xcd)]);
});

it.each([
  ['no secret', ''],
  ['a secret that is too short', 'abcd\n'],
  ['a line that is not a secret', `${'ab'.repeat(32)}\nold\n`],
  ['three secrets', `${'ab'.repeat(32)}\n`.repeat(3)],
])('readSecrets refuses a file with %s and leaves it unchanged', (_what, text) => {
  const path = join(folder(), 'secret');
  writeFileSync(path, text);
  expect(() => readSecrets(path)).toThrow(
    `the secret file ${path} must have one or two lines of 64 hex digits each, the current secret first`,
  );
  expect(readFileSync(path, 'utf8')).toBe(text);
});

it.skipIf(process.getuid?.() === 0)('readSecrets throws an error that names the file if it is not readable', () => {
  const path = join(folder(), 'secret');
  writeFileSync(path, '', { mode: 0o000 });
  chmodSync(path, 0o000);
  expect(() => readSecrets(path)).toThrow(`cannot read or create the secret file ${path}: permission denied (EACCES)`);
});
