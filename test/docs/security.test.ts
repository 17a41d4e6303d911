import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';

const textOf = (name: string): string => readFileSync(join(root, name), 'utf8');

/** Returns the secrets of all processes in the table of the threat model. */
function secretsOfProcesses(): string[] {
  const section =
    textOf('docs/threat-model.md').split('## Processes and what each may touch')[1]?.split('\n\n')[2] ?? '';
  const cells = section.split('\n').map((line) => line.split('|').at(-2)?.trim() ?? '');
  expect(cells.slice(0, 2)).toEqual(['secrets', expect.stringMatching(/^-+$/)]);
  return [...new Set(cells.slice(2).flatMap((cell) => cell.split('; ')))].filter(
    (secret) => secret !== 'none' && secret !== 'as labels',
  );
}

it('SECURITY.md names every secret of the threat model, and the secrets of the shipped configuration of PostgreSQL', () => {
  const secrets = textOf('SECURITY.md').split('\n## Secrets\n')[1]?.split('\n## ')[0]?.replaceAll(/\s+/g, ' ') ?? '';
  const named = secretsOfProcesses();
  expect(named.length).toBeGreaterThanOrEqual(4);
  expect(named.filter((secret) => !secrets.includes(secret))).toEqual([]);
  const files = ['pgbackrest.conf', 'patroni.env'];
  for (const file of files) expect(textOf(`deploy/postgres/${file}`)).toMatch(/(?:pass|password)=/i);
  expect(files.filter((file) => !secrets.includes(file))).toEqual([]);
});
