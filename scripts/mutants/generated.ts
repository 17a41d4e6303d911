import ts from 'typescript';

/** A small syntactic change of one place in one file. */
export interface GeneratedMutant {
  readonly file: string;
  /** Offset of the replaced text, in characters. */
  readonly start: number;
  readonly before: string;
  readonly after: string;
  /** Line number of the change, from 1. */
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
 * Returns every mutant of a file: flipped comparisons and operators, constants off by one, removed negations and
 * statements.
 */
export function mutantsOf(file: string, text: string): GeneratedMutant[] {
  const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
  const found: GeneratedMutant[] = [];
  const add = (node: ts.Node, after: string): void => {
    const start = node.getStart(source);
    const line = source.getLineAndCharacterOfPosition(start).line + 1;
    found.push({ file, start, before: node.getText(source), after, line });
  };
  const visit = (node: ts.Node): void => {
    if (ts.isTypeNode(node) || ts.isImportDeclaration(node) || ts.isInterfaceDeclaration(node)) return;
    mutate(node, add);
    ts.forEachChild(node, visit);
  };
  visit(source);
  return found;
}

function mutate(node: ts.Node, add: (node: ts.Node, after: string) => void): void {
  if (ts.isBinaryExpression(node)) {
    const swapped = swaps.get(node.operatorToken.kind);
    // Concatenations are excluded: any test that compares texts would detect them.
    const joinsText = node.operatorToken.kind === ts.SyntaxKind.PlusToken && (isText(node.left) || isText(node.right));
    if (swapped !== undefined && !joinsText) add(node.operatorToken, swapped);
  } else if (ts.isNumericLiteral(node)) add(node, `(${node.text} + 1)`);
  else if (node.kind === ts.SyntaxKind.TrueKeyword) add(node, 'false');
  else if (node.kind === ts.SyntaxKind.FalseKeyword) add(node, 'true');
  else if (ts.isPrefixUnaryExpression(node) && node.operator === ts.SyntaxKind.ExclamationToken) {
    add(node, `(${node.operand.getText()})`);
  } else if (ts.isExpressionStatement(node)) add(node, ';');
}

function isText(node: ts.Expression): boolean {
  return ts.isStringLiteralLike(node) || ts.isTemplateExpression(node);
}

/** Returns a sample of the items, determined by the seed. */
export function sampleOf<T>(items: readonly T[], count: number, seed: number): T[] {
  const drawn = [...items];
  let state = seed >>> 0;
  const random = (): number => {
    // The generator is mulberry32.
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  for (let i = drawn.length - 1; i > 0; i -= 1) {
    const other = Math.floor(random() * (i + 1));
    const [a, b] = [drawn[i], drawn[other]];
    if (a !== undefined && b !== undefined) [drawn[i], drawn[other]] = [b, a];
  }
  return drawn.slice(0, count);
}

/** Returns the 95 % confidence interval of a share in a sample (Wilson). */
export function confidence(some: number, all: number): readonly [low: number, high: number] {
  if (all === 0) return [0, 1];
  const z = 1.96;
  const share = some / all;
  const middle = (share + z ** 2 / (2 * all)) / (1 + z ** 2 / all);
  const half = (z / (1 + z ** 2 / all)) * Math.sqrt((share * (1 - share)) / all + z ** 2 / (4 * all ** 2));
  return [Math.max(0, middle - half), Math.min(1, middle + half)];
}
