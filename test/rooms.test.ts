import { existsSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { importsOf, parsed, root, sourceFiles } from './support/imports.ts';

/** The rooms of the house and the direction between them, as ARCHITECTURE.md tells them. */
const mayImport: Record<string, readonly string[]> = {
  contract: [],
  input: [],
  artifact: ['contract', 'input', 'ops'],
  ops: ['contract', 'input'],
  http: ['contract', 'input', 'ops'],
  web: ['contract', 'input', 'ops'],
  facts: ['contract', 'input', 'artifact', 'http', 'web', 'ops'],
  store: ['contract', 'input', 'ops'],
  network: ['contract', 'input', 'ops'],
  labels: ['contract', 'input', 'artifact', 'store', 'network', 'ops'],
  weather: ['contract', 'input', 'artifact', 'network', 'ops'],
  account: ['contract', 'input', 'store', 'network', 'http', 'web', 'ops'],
  client: [],
  export: ['contract', 'input', 'client', 'network', 'ops'],
  main: [
    'contract',
    'input',
    'artifact',
    'ops',
    'http',
    'web',
    'facts',
    'store',
    'network',
    'labels',
    'weather',
    'account',
    'export',
    'sim',
  ],
  sim: ['contract'],
};

/** Made by the generator: its length is the contract's. */
const generated = ['src/client/schemas.ts'];
const files = [...sourceFiles('src'), ...(existsSync(join(root, 'sim')) ? sourceFiles('sim') : [])];
const graph = new Map(files.map((file) => [file, importsOf(file)]));

function roomOf(file: string): string {
  const [top = '', room = ''] = file.split('/');
  return top === 'src' ? room : top;
}

describe('the rooms', () => {
  it('every file lies in a room', () => {
    expect(files.filter((file) => !Object.hasOwn(mayImport, roomOf(file)))).toEqual([]);
    expect(files.length).toBeGreaterThan(40);
  });

  it('import in one direction, type imports too', () => {
    const wrong = [...graph].flatMap(([file, imports]) =>
      imports
        .filter((target) => roomOf(target) !== roomOf(file) && !mayImport[roomOf(file)]?.includes(roomOf(target)))
        .map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('hold no circle of imports', () => {
    const done = new Set<string>();
    const circle = (file: string, trail: readonly string[]): string[] | null => {
      if (trail.includes(file)) return [...trail.slice(trail.indexOf(file)), file];
      if (done.has(file)) return null;
      for (const target of graph.get(file) ?? []) {
        const found = circle(target, [...trail, file]);
        if (found) return found;
      }
      done.add(file);
      return null;
    };
    expect(files.map((file) => circle(file, [])).find((found) => found !== null)).toBeUndefined();
  });

  it('publication has no handle on a store: nothing that facts or http import opens one', () => {
    const reached = new Set<string>();
    const walk = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const target of graph.get(file) ?? []) walk(target);
    };
    for (const file of files.filter((name) => ['facts', 'http'].includes(roomOf(name)))) walk(file);
    walk('src/main/facts-process.ts');
    const opening = [...reached].filter((file) =>
      /better-sqlite3|from 'postgres'|from 'pg'|\/store\//.test(parsed(file).text.replaceAll(/^\s*\/?\*.*$/gm, '')),
    );
    expect(opening).toEqual([]);
  });
});

describe('files', () => {
  it('have one reason to change: none is longer than 400 lines', () => {
    const written = files.filter((file) => !generated.includes(file));
    const long = written.filter((file) => parsed(file).text.split('\n').length > 400);
    expect(long).toEqual([]);
  });

  it('explain what they export where others build on it', () => {
    const bare = files
      .filter(
        (file) =>
          ['contract', 'input', 'artifact', 'store', 'http', 'facts', 'ops', 'network', 'client', 'export'].includes(
            roomOf(file),
          ) && !generated.includes(file),
      )
      .flatMap((file) => undocumented(file).map((name) => `${file}: ${name}`));
    expect(bare).toEqual([]);
  });
});

/** Exported declarations without a docstring. A type that stands right behind the value it is derived from shares its. */
function undocumented(file: string): string[] {
  const source = parsed(file);
  const documented = new Set<string>();
  const missing: string[] = [];
  for (const statement of source.statements) {
    const exported = ts.canHaveModifiers(statement)
      ? ts.getModifiers(statement)?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)
      : false;
    if (!exported) continue;
    const name = nameOf(statement);
    const hasDoc = ts.getJSDocCommentsAndTags(statement).length > 0;
    if (hasDoc) documented.add(name.toLowerCase());
    const derived = ts.isTypeAliasDeclaration(statement) && /typeof /.test(statement.type.getText(source));
    if (!hasDoc && !derived && !documented.has(name.toLowerCase())) missing.push(name);
  }
  return missing;
}

function nameOf(statement: ts.Statement): string {
  if (ts.isVariableStatement(statement)) return statement.declarationList.declarations[0]?.name.getText() ?? '';
  const named = statement as ts.Statement & { name?: ts.Node };
  return named.name?.getText() ?? '';
}
