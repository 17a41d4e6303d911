import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';

/** Tests that the commands of the documentation mean in a shell what they are meant to. */

/** Every indented line and every line of a block, with its page: commands, and a few lines of other kinds. */
const lines = ['README.md', ...pagesIn('docs')].flatMap((page) => {
  let isBlock = false;
  return readFileSync(join(root, page), 'utf8')
    .split('\n')
    .flatMap((line) => {
      if (line.startsWith('```')) isBlock = !isBlock;
      return isBlock || /^ {4}/.test(line) ? [`${page}: ${line.trim()}`] : [];
    });
});

function pagesIn(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));
}

it('the commands of the documentation quote every URL with a character that has a meaning in a shell', () => {
  const unquoted = (line: string): boolean => /\w+:\/\/\S*[?&;*]/.test(line.replaceAll(/'[^']*'|"[^"]*"/g, ''));
  expect(lines.length).toBeGreaterThan(100);
  expect(lines.filter(unquoted)).toEqual([]);
});

it('the commands of the documentation connect over the socket of PostgreSQL as the user that its default configuration admits', () => {
  const overSocket = lines.filter((line) => line.includes('postgres://postgres@/'));
  expect(overSocket.length).toBeGreaterThan(0);
  expect(overSocket.filter((line) => !line.includes(': sudo -u postgres '))).toEqual([]);
});
