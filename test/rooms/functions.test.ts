import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, it } from 'vitest';
import { parsed, root, sourceFiles } from '../../harness/process/imports.ts';

/** Maximum number of lines of a function. */
const maxLines = 60;

/** Functions that exceed the maximum, one `file name` per line. The list may only get shorter. */
const listed = readFileSync(join(root, 'test', 'rooms', 'long-functions.txt'), 'utf8')
  .split('\n')
  .filter(Boolean);

it(`no function of the program is longer than ${maxLines} lines, except those in a list that may only get shorter`, () => {
  const long = [...sourceFiles('src'), ...sourceFiles('sim')].flatMap(longFunctions).sort();
  expect({
    added: long.filter((name) => !listed.includes(name)),
    done: listed.filter((name) => !long.includes(name)),
  }).toEqual({ added: [], done: [] });
});

function longFunctions(file: string): string[] {
  const source = parsed(file);
  const found: string[] = [];
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  const visit = (node: ts.Node): void => {
    if (ts.isFunctionLike(node) && 'body' in node && node.body) {
      const lines = lineAt(node.end) - lineAt(node.getStart(source)) + 1;
      if (lines > maxLines) found.push(`${file} ${nameOf(node)}`);
    }
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/** Returns the name of a function, or of the variable or property that contains it. */
function nameOf(node: ts.SignatureDeclaration): string {
  if (node.name) return node.name.getText();
  const { parent } = node;
  const holder = ts.isVariableDeclaration(parent) || ts.isPropertyAssignment(parent) ? parent.name : null;
  return holder?.getText() ?? 'anonymous';
}
