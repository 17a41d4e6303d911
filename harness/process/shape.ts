import ts from 'typescript';
import { importsIn } from './imports.ts';

/** Counts about the files of `src`, without tests. */
interface Shape {
  readonly files: number;
  readonly lines: number;
  readonly filesUnder30Lines: number;
  readonly filesUnder60Lines: number;
  /** Files that exactly one other file imports. */
  readonly filesWithOneReader: number;
  /** Exported names. A value and a type of the same name are one. */
  readonly exportedNames: number;
  readonly linesOfImports: number;
  /** The names of each room that other rooms import. */
  readonly faces: ReadonlyMap<string, number>;
}

/** Counts the files of `src`, given as the syntax tree of each path. */
export function shapeOf(sources: ReadonlyMap<string, ts.SourceFile>): Shape {
  const lines = [...sources.values()].map(({ text }) => text.split('\n').length - 1);
  return {
    files: sources.size,
    lines: lines.reduce((sum, count) => sum + count, 0),
    filesUnder30Lines: lines.filter((count) => count < 30).length,
    filesUnder60Lines: lines.filter((count) => count < 60).length,
    filesWithOneReader: [...readersOf(sources).values()].filter(({ size }) => size === 1).length,
    exportedNames: [...sources.values()].reduce((sum, source) => sum + exportsOf(source).size, 0),
    linesOfImports: [...sources.values()].reduce((sum, source) => sum + importLines(source), 0),
    faces: facesOf(sources),
  };
}

/** Returns the files that import each file. */
export function readersOf(sources: ReadonlyMap<string, ts.SourceFile>): Map<string, Set<string>> {
  const readers = new Map<string, Set<string>>();
  for (const [file, source] of sources) {
    for (const { target } of importsIn(file, source)) {
      if (sources.has(target)) readers.set(target, (readers.get(target) ?? new Set()).add(file));
    }
  }
  return readers;
}

function facesOf(sources: ReadonlyMap<string, ts.SourceFile>): Map<string, number> {
  const used = new Map([...sources.keys()].sort().map((file) => [roomOf(file), new Set<string>()]));
  for (const [file, source] of sources) {
    for (const { node, target } of importsIn(file, source)) {
      const imported = sources.get(target);
      if (!imported || roomOf(target) === roomOf(file)) continue;
      for (const name of namesTaken(node) ?? exportsOf(imported)) used.get(roomOf(target))?.add(`${target} ${name}`);
    }
  }
  return new Map([...used].map(([room, names]) => [room, names.size]));
}

function roomOf(file: string): string {
  return file.split('/')[1] ?? '';
}

/** Returns the names that an import takes from a file, or null if it takes all. */
function namesTaken(node: ts.Node): string[] | null {
  const list = ts.isImportDeclaration(node)
    ? node.importClause?.namedBindings
    : ts.isExportDeclaration(node)
      ? node.exportClause
      : undefined;
  if (list === undefined || ts.isNamespaceImport(list) || ts.isNamespaceExport(list)) return null;
  return list.elements.map(({ name, propertyName }) => (propertyName ?? name).text);
}

function exportsOf(source: ts.SourceFile): Set<string> {
  const names = new Set<string>();
  for (const statement of source.statements) {
    if (ts.isExportDeclaration(statement) && statement.exportClause && ts.isNamedExports(statement.exportClause)) {
      for (const { name } of statement.exportClause.elements) names.add(name.text);
    }
    const modifiers = ts.canHaveModifiers(statement) ? ts.getModifiers(statement) : undefined;
    if (!modifiers?.some(({ kind }) => kind === ts.SyntaxKind.ExportKeyword)) continue;
    if (ts.isVariableStatement(statement)) {
      for (const { name } of statement.declarationList.declarations)
        for (const bound of boundNames(name)) names.add(bound);
    } else {
      const { name } = statement as ts.Statement & { name?: ts.Identifier };
      names.add(name?.text ?? 'default');
    }
  }
  return names;
}

function boundNames(name: ts.BindingName): string[] {
  if (ts.isIdentifier(name)) return [name.text];
  return name.elements.flatMap((element) => (ts.isBindingElement(element) ? boundNames(element.name) : []));
}

function importLines(source: ts.SourceFile): number {
  const lineAt = (position: number): number => source.getLineAndCharacterOfPosition(position).line;
  return source.statements
    .filter((node) => ts.isImportDeclaration(node) || (ts.isExportDeclaration(node) && node.moduleSpecifier))
    .reduce((sum, node) => sum + lineAt(node.end) - lineAt(node.getStart(source)) + 1, 0);
}
