/**
 * Normalizes text before the privacy scan: removes compatibility forms, invisible characters and nested encodings,
 * which could hide an identity. Only the scan uses the result, which is never published.
 */

/** Maximum number of nested encodings that are decoded. Legitimate text has at most one. */
const maxRounds = 6;

/** Matches text that decoding cannot change: printable ASCII without the characters that begin an escape sequence. */
const alreadyPlain = /^[\x20-\x24\x27-\x5b\x5d-\x7e]*$/;

/** Matches invisible characters: format and control characters, variation selectors, joiners and fillers. */
const unseen = /[\p{Cf}\p{Cc}\p{Default_Ignorable_Code_Point}]/gu;

/**
 * Matches all but the first 32 marks in a run of combining marks or of halfwidth forms that normalize to marks.
 * Normalization sorts the marks of a run in quadratic time. Real text has at most 30 marks in a run (UAX #15,
 * stream-safe text format).
 */
const excessMarks = /([\p{M}\uff9e\uff9f]{32})[\p{M}\uff9e\uff9f]+/gu;

const percent = /(?:%[0-9a-f]{2})+/gi;
const numericEntity = /&#(?:x([0-9a-f]{1,6})|([0-9]{1,7}));?/gi;
const namedEntity = /&(colon|sol|commat|period|percnt|amp|bsol|num|semi|lowbar);?/gi;
const escaped = /\\(?:u\{([0-9a-f]{1,6})\}|u([0-9a-f]{4})|x([0-9a-f]{2})|(["/\\]))/gi;

const entities: Readonly<Record<string, string>> = {
  colon: ':',
  sol: '/',
  commat: '@',
  period: '.',
  percnt: '%',
  amp: '&',
  bsol: '\\',
  num: '#',
  semi: ';',
  lowbar: '_',
};

/** Returns the decoded text; null if it has more nested encodings than any legitimate text. */
export function plainText(text: string): string | null {
  let current = text;
  for (let round = 0; round < maxRounds; round += 1) {
    if (alreadyPlain.test(current)) return current;
    const next = decoded(current);
    if (next === current) return current;
    current = next;
  }
  return null;
}

function decoded(text: string): string {
  // Identities contain no combining marks, so removing marks cannot hide one.
  let result = text.replace(excessMarks, '$1').normalize('NFKC').replace(unseen, '');
  if (result.includes('%')) result = result.replace(percent, (run) => bytes(run.replaceAll('%', '')));
  if (result.includes('&')) {
    result = result
      .replace(numericEntity, (_, hex?: string, decimal?: string) => character(hex ?? '', decimal ?? ''))
      .replace(namedEntity, (_, name: string) => entities[name.toLowerCase()] ?? '');
  }
  if (result.includes('\\')) {
    result = result.replace(escaped, (_, braced?: string, four?: string, two?: string, sign?: string) =>
      sign === undefined ? character(braced ?? four ?? two ?? '', '') : sign,
    );
  }
  return result;
}

function bytes(hex: string): string {
  return Buffer.from(hex, 'hex').toString('utf8');
}

function character(hex: string, decimal: string): string {
  const code = hex === '' ? Number.parseInt(decimal, 10) : Number.parseInt(hex, 16);
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}
