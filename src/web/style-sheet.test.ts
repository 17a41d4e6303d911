import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { packageRoot } from '../main/command.ts';
import { compactStyles } from './document.tsx';

const compact = (css: string): string => String(compactStyles(Buffer.from(css)));

it('compactStyles removes comments and white space, but keeps the spaces that separate values, selectors and operands', () => {
  const css = `/* A comment; with { signs. */
@media (min-width: 48rem) and (hover) {
  header.site nav > a,
  :root b {
    margin: 0 0.25rem -0.5rem;
    width: calc(100% - 10.05rem);
    --paper: #fff;
  }
}
`;
  expect(compact(css)).toBe(
    '@media (min-width:48rem) and (hover){header.site nav>a,:root b{margin:0 .25rem -.5rem;width:calc(100% - 10.05rem);--paper:#fff}}',
  );
});

it('no style sheet in assets contains a string or a URL, because compactStyles would change white space in it', () => {
  const folder = join(packageRoot(), 'assets');
  const sheets = readdirSync(folder).filter((name) => name.endsWith('.css'));
  expect(sheets).toContain('almanac.css');
  for (const name of sheets) {
    expect(readFileSync(join(folder, name), 'utf8').replaceAll(/\/\*.*?\*\//gs, '')).not.toMatch(/["']|url\(/);
  }
});
