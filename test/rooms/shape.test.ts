import ts from 'typescript';
import { expect, it } from 'vitest';
import { readersOf, shapeOf } from '../../harness/process/shape.ts';

const texts: Record<string, string> = {
  'src/facts/page.ts': `import { limit, type Rule } from '../contract/limits.ts';
import {
  title,
} from './words.ts';
export const [first, { second }] = [limit, { second: title }];
export default function page(): Rule | null {
  return null;
}
`,
  'src/facts/words.ts': "export const title = 'x';\n",
  'src/contract/limits.ts': `export const limit = 1;
export type limit = number;
export interface Rule {}
function own(): void {}
own();
${'\n'.repeat(40)}`,
  'src/main/almanac.ts': `import type * as limits from '../contract/limits.ts';
export { title as name } from '../facts/words.ts';
await import('../facts/page.ts');
export type All = typeof limits;
`,
};
const sources = new Map(
  Object.entries(texts).map(([file, text]) => [file, ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true)]),
);

it('the shape of the source counts files, names, imports and what rooms show to each other', () => {
  expect(shapeOf(sources)).toEqual({
    files: 4,
    lines: 8 + 1 + 45 + 4,
    filesUnder30Lines: 3,
    filesUnder60Lines: 4,
    filesWithOneReader: 1,
    exportedNames: 8,
    linesOfImports: 6,
    faces: new Map([
      ['contract', 2],
      ['facts', 4],
      ['main', 0],
    ]),
  });
});

it('the readers of a file are the files that import it in any form', () => {
  expect(readersOf(sources)).toEqual(
    new Map([
      ['src/contract/limits.ts', new Set(['src/facts/page.ts', 'src/main/almanac.ts'])],
      ['src/facts/words.ts', new Set(['src/facts/page.ts', 'src/main/almanac.ts'])],
      ['src/facts/page.ts', new Set(['src/main/almanac.ts'])],
    ]),
  );
});
