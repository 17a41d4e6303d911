import { createHash } from 'node:crypto';
import ts from 'typescript';

/** Kind of a change. Scores by kind can be compared with the scores of tools that do not change constants. */
export type MutantKind = 'operator' | 'constant' | 'boolean' | 'negation' | 'statement';

/** A small syntactic change of one place in one file. */
export interface GeneratedMutant {
  /**
   * Identity of the change: the file, the text of the line, the replaced text, its replacement, and the number of
   * equal changes earlier in the file. The identity stays the same when other lines of the file change.
   */
  readonly id: string;
  readonly kind: MutantKind;
  readonly file: string;
  /** Offset of the replaced text, in characters. */
  readonly start: number;
  readonly before: string;
  readonly after: string;
  /** Line number of the change, counted from 1. */
  readonly line: number;
}

const swaps: ReadonlyMap<ts.SyntaxKind, string> = new Map([
  [ts.SyntaxKind.LessThanToken, '<='],
  [ts.SyntaxKind.LessThanEqualsToken, '<'],
  [ts.SyntaxKind.GreaterThanToken, '>='],
  [ts.SyntaxKind.GreaterThanEqualsToken, '>'],
  [ts.SyntaxKind.EqualsEqualsEqualsToken, '!=='],
  [ts.SyntaxKind.ExclamationEqualsEqualsToken, '==='],
  [ts.SyntaxKind.AmpersandAmpersandToken, '||'],
  [ts.SyntaxKind.BarBarToken, '&&'],
  [ts.SyntaxKind.PlusToken, '-'],
  [ts.SyntaxKind.MinusToken, '+'],
  [ts.SyntaxKind.AsteriskToken, '/'],
  [ts.SyntaxKind.SlashToken, '*'],
]);

/**
 * Returns every mutant of a file: flipped comparisons, operators and booleans, constants off by one, and removed
 * negations and statements.
 */
export function mutantsOf(file: string, text: string): GeneratedMutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: GeneratedMutant[] = [];
  const occurrences = new Map<string, number>();
  const lines = text.split('\n');
  const add = (kind: MutantKind, node: ts.Node, after: string): void => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    const before = node.getText(source);
    const place = JSON.stringify([file, lines[line - 1]?.trim(), before, after]);
    const earlier = occurrences.get(place) ?? 0;
    occurrences.set(place, earlier + 1);
    found.push({ id: `${place} ${earlier}`, kind, file, start, before, after, line });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    mutate(node, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function mutate(node: ts.Node, add: (kind: MutantKind, node: ts.Node, after: string) => void): void {
  if (ts.isBinaryExpression(node)) {
    const swapped = swaps.get(node.operatorToken.kind);
    // Exclude concatenations, because any test that compares strings would detect such a change.
    const joinsText = node.operatorToken.kind === ts.SyntaxKind.PlusToken && (isText(node.left) || isText(node.right));
    if (swapped !== undefined && !joinsText) add('operator', node.operatorToken, swapped);
  } else if (ts.isNumericLiteral(node)) add('constant', node, `(${node.text} + 1)`);
  else if (node.kind === ts.SyntaxKind.TrueKeyword) add('boolean', node, 'false');
  else if (node.kind === ts.SyntaxKind.FalseKeyword) add('boolean', node, 'true');
  else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    add('negation', node, `(${node.operand.getText()})`);
  } else if (ts.isExpressionStatement(node)) add('statement', node, ';');
}

function isText(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/**
 * Returns a sample of the mutants in random order, determined by the seed. Each mutant is drawn by its identity, so
 * that a change of the code replaces only the mutants of the changed lines, and a run over several days can continue.
 */
export function sampleOf<T extends { readonly id: string }>(mutants: readonly T[], count: number, seed: number): T[] {
  const rank = ({ id }: T): string => createHash('sha256').update(`${seed} ${id}`).digest('hex');
  return mutants
    .map((mutant) => [rank(mutant), mutant] as const)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .slice(0, count)
    .map(([, mutant]) => mutant);
}

/** Returns the 95 % confidence interval of a share in a sample (Wilson score interval). */
export function confidence(some: number, all: number): readonly [low: number, high: number] {
  if (all === 0) return [0, 1];
  const z = 1.96;
  const share = some / all;
  const middle = (share + z ** 2 / (2 * all)) / (1 + z ** 2 / all);
  const half = (z / (1 + z ** 2 / all)) * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
