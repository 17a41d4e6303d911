import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

/** Path of the repository, without a trailing slash. */
export const root = fileURLToPath(new URL('../..', import.meta.url)).replace(/\/$/, '');

/** Returns all TypeScript files below a directory, including tests, relative to the repository. */
export function allFiles(folder: string): string[] {
  return readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => /\.tsx?$/.test(name) && !name.includes('node_modules'))
    .map((name) => join(folder, name))
    .sort();
}

/** Returns the TypeScript files below a directory, excluding tests, relative to the repository. */
export function sourceFiles(folder: string): string[] {
  return allFiles(folder).filter((name) => !/\.test\.tsx?$/.test(name));
}

/** Parses a file of the repository to a syntax tree. */
export function parsed(file: string): ts.SourceFile {
  return ts.createSourceFile(file, readFileSync(join(root, file), 'utf8'), ts.ScriptTarget.Latest, true);
}

/** Imports of each parsed file. Parsing takes a millisecond, and several checks ask for the same files. */
const importsByFile = new Map<string, readonly string[]>();

/** Returns the repository's files that a file imports, including type imports, re-exports and dynamic imports. */
export function importsOf(file: string): readonly string[] {
  const found = importsByFile.get(file) ?? importsIn(file, parsed(file)).map(({ target }) => target);
  importsByFile.set(file, found);
  return found;
}

/** Returns the imports of the syntax tree of a file, each with its node and the imported file of the repository. */
export function importsIn(file: string, source: ts.SourceFile): { node: ts.Node; target: string }[] {
  const found: { node: ts.Node; target: string }[] = [];
  const visit = (node: ts.Node): void => {
    const specifier = specifierOf(node);
    if (specifier?.startsWith('.')) found.push({ node, target: join(dirname(file), specifier) });
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

/**
 * Returns the packages and built-in modules that are loaded together with a file of the repository, directly or through
 * other files. Omits type imports, which the compiler removes, and dynamic imports.
 */
export function packagesLoadedWith(file: string): Set<string> {
  const packages = new Set<string>();
  const files = new Set([file]);
  for (const one of files) {
    for (const statement of parsed(one).statements) {
      const specifier = isLoaded(statement) ? specifierOf(statement) : null;
      if (specifier?.startsWith('.')) files.add(join(dirname(one), specifier));
      else if (specifier) packages.add(specifier);
    }
  }
  return packages;
}

/** Returns true for an import or export that the compiled program contains, even if it imports only types by name. */
function isLoaded(statement: ts.Statement): boolean {
  if (ts.isExportDeclaration(statement)) return !statement.isTypeOnly;
  return ts.isImportDeclaration(statement) && statement.importClause?.phaseModifier !== ts.SyntaxKind.TypeKeyword;
}

function specifierOf(node: ts.Node): string | null {
  if ((ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) && node.moduleSpecifier) {
    return ts.isStringLiteral(node.moduleSpecifier) ? node.moduleSpecifier.text : null;
  }
  if (ts.isCallExpression(node) && node.expression.kind === ts.SyntaxKind.ImportKeyword) {
    const [argument] = node.arguments;
    return argument && ts.isStringLiteral(argument) ? argument.text : null;
  }
  if (ts.isImportTypeNode(node) && ts.isLiteralTypeNode(node.argument)) {
    const { literal } = node.argument;
    return ts.isStringLiteral(literal) ? literal.text : null;
  }
  return null;
}
