import { existsSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import ts from 'typescript';
import { describe, expect, it } from 'vitest';
import { allFiles, importsOf, packagesLoadedWith, parsed, root, sourceFiles } from '../../harness/process/imports.ts';
import { shapeOf } from '../../harness/process/shape.ts';

/** Rooms that each room may import, as described in ARCHITECTURE.md. */
const mayImport: Record<string, readonly string[]> = {
  contract: [],
  input: ['contract'],
  artifact: ['contract', 'input', 'client', 'ops'],
  ops: ['contract', 'input'],
  http: ['contract', 'input', 'ops'],
  web: ['contract', 'input', 'ops'],
  facts: ['contract', 'input', 'artifact', 'client', 'http', 'web', 'ops'],
  store: ['contract', 'input', 'ops'],
  network: ['contract', 'input', 'ops'],
  labels: ['contract', 'input', 'artifact', 'store', 'network', 'ops'],
  weather: ['contract', 'input', 'artifact', 'network', 'ops'],
  account: ['contract', 'input', 'store', 'network', 'http', 'web', 'ops'],
  client: [],
  export: ['contract', 'input', 'client', 'network', 'ops'],
  archive: ['contract', 'input', 'artifact', 'client', 'ops'],
  main: [
    'contract',
    'input',
    'artifact',
    'client',
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
    'archive',
    'sim',
  ],
  sim: ['contract'],
};

/** Top-level directories with TypeScript. */
const everywhere = ['src', 'sim', 'harness', 'test', 'bench', 'scripts', 'examples'];
/** Generated files. Their length depends on the contract. */
const generated = ['src/client/schemas.ts'];
const files = [...sourceFiles('src'), ...(existsSync(join(root, 'sim')) ? sourceFiles('sim') : [])];
const graph = new Map(files.map((file) => [file, importsOf(file)]));

/** Faces of the rooms that have one: the files that other rooms may import. What is not listed is private to its room. */
const faces = readFileSync(join(root, 'test', 'rooms', 'faces.txt'), 'utf8')
  .split('\n')
  .filter(Boolean);
/** Maximum number of names of a face. */
const maxFaceNames = 40;

function textOf(file: string): string {
  return readFileSync(join(root, file), 'utf8');
}

function roomOf(file: string): string {
  const [top = '', room = ''] = file.split('/');
  return top === 'src' ? room : top;
}

describe('the rooms of the source', () => {
  it('contain every source file', () => {
    expect(files.filter((file) => !Object.hasOwn(mayImport, roomOf(file)))).toEqual([]);
    expect(files.length).toBeGreaterThan(40);
  });

  it('import each other only in the permitted directions, even for types', () => {
    const wrong = [...graph].flatMap(([file, imports]) =>
      imports
        .filter((target) => roomOf(target) !== roomOf(file) && !mayImport[roomOf(file)]?.includes(roomOf(target)))
        .map((target) => `${file} -> ${target}`),
    );
    expect(wrong).toEqual([]);
  });

  it('import no file past the face of another room, and a face lists no file that only its room imports', () => {
    const withFace = new Set(faces.map(roomOf));
    const crossing = [...graph]
      .flatMap(([file, imports]) => imports.map((target) => ({ file, target })))
      .filter(({ file, target }) => roomOf(file) !== roomOf(target) && withFace.has(roomOf(target)));
    const taken = new Set(crossing.map(({ target }) => target));
    expect({
      past: crossing.filter(({ target }) => !faces.includes(target)).map(({ file, target }) => `${file} -> ${target}`),
      unused: faces.filter((file) => !taken.has(file)),
    }).toEqual({ past: [], unused: [] });
  });

  it(`take at most ${maxFaceNames} names from each face`, () => {
    const names = shapeOf(new Map(files.map((file) => [file, parsed(file)]))).faces;
    const wide = [...new Set(faces.map(roomOf))].filter((room) => (names.get(room) ?? 0) > maxFaceNames);
    expect(wide).toEqual([]);
  });

  it('contain no import cycle, nor do the programs and the code for tests', () => {
    const graph = new Map(everywhere.flatMap((folder) => sourceFiles(folder)).map((file) => [file, importsOf(file)]));
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
    expect([...graph.keys()].map((file) => circle(file, [])).find((found) => found !== null)).toBeUndefined();
  });

  it('contain no cycle of directories: of two sibling directories, at most one depends on the other', () => {
    const needs = new Map<string, Set<string>>();
    for (const [file, imports] of graph) {
      for (const target of imports) {
        const [from, to] = sideBySide(file, target);
        if (from !== to) needs.set(from, (needs.get(from) ?? new Set()).add(to));
      }
    }
    const reachedFrom = (folder: string): Set<string> => {
      const reached = new Set<string>();
      const open = [folder];
      for (let at = open.pop(); at !== undefined; at = open.pop()) {
        for (const next of needs.get(at) ?? []) {
          if (reached.has(next)) continue;
          reached.add(next);
          open.push(next);
        }
      }
      return reached;
    };
    expect([...needs.keys()].filter((folder) => reachedFrom(folder).has(folder))).toEqual([]);
  });

  it('load neither schemas nor clients nor servers with the program before a command needs them', () => {
    const loaded = [...packagesLoadedWith('src/main/almanac.ts')];
    // These take the longest. The bundle may add modules that chunks share, but none that no source imports.
    const slow = ['node:crypto', 'node:http', 'node:https', 'node:tls', 'node:zlib'];
    expect(loaded.filter((name) => !name.startsWith('node:')).sort()).toEqual(['fastest-levenshtein', 'pino']);
    expect(loaded.filter((name) => slow.includes(name))).toEqual([]);
  });

  it('import the counts of hot accounts only through their public module', () => {
    const folder = 'src/store/sqlite/hot/';
    const importing = files
      .filter((file) => !file.startsWith(folder))
      .filter((file) =>
        [...(graph.get(file) ?? [])].some((to) => to.startsWith(folder) && !to.endsWith('/hot-counts.ts')),
      );
    expect(importing).toEqual([]);
  });

  it('import no code from test/, nor do the scripts, benchmarks and the harness', () => {
    const importing = everywhere
      .filter((folder) => folder !== 'test')
      .flatMap((folder) => sourceFiles(folder))
      .filter((file) => importsOf(file).some((target) => target.startsWith('test/')));
    expect(importing).toEqual([]);
  });

  it('import no scripts and benchmarks, nor does the harness, which both import', () => {
    const importing = ['src', 'sim', 'harness']
      .flatMap((folder) => sourceFiles(folder))
      .flatMap((file) => importsOf(file).map((target) => `${file} -> ${target}`))
      .filter((pair) => / -> (?:scripts|bench)\//.test(pair));
    expect(importing).toEqual([]);
  });

  it('do not import code that opens a store into facts or http, which publish', () => {
    const reached = new Set<string>();
    const walk = (file: string): void => {
      if (reached.has(file)) return;
      reached.add(file);
      for (const target of graph.get(file) ?? []) walk(target);
    };
    for (const file of files.filter((name) => ['facts', 'http'].includes(roomOf(name)))) walk(file);
    walk('src/main/facts/facts-process.ts');
    const opening = [...reached].filter((file) =>
      /better-sqlite3|from 'postgres'|from 'pg'|\/store\//.test(textOf(file).replaceAll(/^\s*\/?\*.*$/gm, '')),
    );
    expect(opening).toEqual([]);
  });
});

describe('directories', () => {
  it('contain at most 25 TypeScript files each', () => {
    const counts = new Map<string, number>();
    const tests = everywhere.flatMap((folder) => allFiles(folder));
    for (const file of tests) counts.set(dirname(file), (counts.get(dirname(file)) ?? 0) + 1);
    expect([...counts].filter(([, count]) => count > 25)).toEqual([]);
  });
});

describe('files', () => {
  it('are at most 400 lines long', () => {
    const written = files.filter((file) => !generated.includes(file));
    const long = written.filter((file) => textOf(file).split('\n').length > 400);
    expect(long).toEqual([]);
  });

  it('document each export that other rooms use', () => {
    const bare = files
      .filter(
        (file) =>
          [
            'contract',
            'input',
            'artifact',
            'store',
            'http',
            'facts',
            'ops',
            'network',
            'client',
            'export',
            'archive',
          ].includes(roomOf(file)) && !generated.includes(file),
      )
      .flatMap((file) => undocumented(file).map((name) => `${file}: ${name}`));
    expect(bare).toEqual([]);
  });
});

/**
 * Returns the two directories at which the paths of two files diverge. Returns equal paths if one file is directly in a
 * directory above the other, because the files of a directory may use its subdirectories and hold what the
 * subdirectories share.
 */
function sideBySide(file: string, target: string): readonly [string, string] {
  const from = dirname(file).split('/');
  const to = dirname(target).split('/');
  let same = 0;
  while (same < from.length && same < to.length && from[same] === to[same]) same++;
  if (same === from.length || same === to.length) return ['', ''];
  return [from.slice(0, same + 1).join('/'), to.slice(0, same + 1).join('/')];
}

/**
 * Returns exported declarations without a docstring. A type that directly follows the value of the same name shares the
 * value's docstring.
 */
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
