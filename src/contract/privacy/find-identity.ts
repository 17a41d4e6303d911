/**
 * Detects identities (DIDs, AT-URIs and handles) in text: the part of the privacy scan that facts, pages and
 * instruments share. The callers decide where an identity is allowed, such as a labeler's own DID.
 */

const did = /did:[a-z0-9]+:[a-z0-9._:%-]/i;
const atUri = /at:\/\//i;

/**
 * Kind of an identity in a text. `encoded`: the text has more nested encodings than any legitimate text and may hide
 * an identity.
 */
export type IdentityShape = 'did' | 'at-uri' | 'handle' | 'encoded';

/** Places in a body where an identity is allowed, as patterns of JSON pointers. */
export interface IdentityPlaces {
  /** Places where DIDs of labelers are allowed. */
  readonly dids: RegExp;
  /** Places where handles, or names that look like handles, are allowed; null if there are none. */
  readonly handles: RegExp | null;
}

/**
 * Returns the kind of an identity that a text contains in any spelling, or `encoded` if the text cannot be decoded
 * completely; null if the text contains no identity. `hosts` are lower-case host names that the text may contain.
 */
export function findIdentity(text: string, hosts: ReadonlySet<string> = new Set()): IdentityShape | null {
  const plain = plainText(text);
  if (plain === null) return 'encoded';
  if (atUri.test(plain)) return 'at-uri';
  if (did.test(plain)) return 'did';
  return namesHandle(plain, hosts) ? 'handle' : null;
}

// Detects handles in text. A handle is a domain name; host names, version numbers and collection names look similar.
// The scan therefore reports only a name that is written as a handle (`@name.tld`), and a name below a domain under
// which handles are in use.

/**
 * Generic top-level domains under which handles exist. The scan also accepts every two-letter domain, for country
 * codes.
 */
const domains = new Set(
  (
    'app art bio blog blue chat click cloud club com dev earth email fyi gay games gg gov info ink int land lgbt life live link lol mil ' +
    'mobi moe name net network news ngo observer one online org page party photos place pro pub rocks science sexy site ' +
    'social soy space store studio tech team today tools top town tube tv vip website wiki win work world wtf xyz zone'
  ).split(' '),
);

/** Matches host names of the network's services. They are not accounts, so a text may contain them. */
const services = /(?:^|\.)bsky\.network$|^plc\.directory$|^bsky\.(?:app|social)$/;

/** Matches names of lexicons, which are reversed domain names. */
const lexicons = /^(?:app\.bsky|chat\.bsky|com\.atproto|network\.bsky|tools\.ozone)\./;

const token = /[a-z0-9._@-]+/gi;
/** Maximum length of one label of a domain name, in characters. */
const maxLabelLength = 63;
const domainLabel = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i;

/** Returns true if a plain text contains a handle other than the given `hosts`, or any domain name after an `@`. */
function namesHandle(text: string, hosts: ReadonlySet<string>): boolean {
  if (!text.includes('.')) return false;
  for (const [found] of text.matchAll(token)) {
    if (found.includes('.') && isHandle(found, hosts)) return true;
  }
  return false;
}

function isHandle(found: string, hosts: ReadonlySet<string>): boolean {
  const at = found.lastIndexOf('@');
  const name = domainName(at < 0 ? found : found.slice(at + 1));
  if (name === null) return false;
  if (at >= 0) return true;
  const lower = name.toLowerCase();
  if (hosts.has(lower) || services.test(lower) || lexicons.test(lower) || isSentenceEnd(name)) return false;
  const last = lower.slice(lower.lastIndexOf('.') + 1);
  return domains.has(last) || /^[a-z]{2}$/.test(last);
}

/** Returns the domain name (at least two labels) at the end of a token; null if there is none. */
function domainName(text: string): string | null {
  const labels = trimmed(text).split('.');
  let from = labels.length;
  while (from > 0 && domainLabel.test(labels[from - 1] ?? '')) from -= 1;
  // An underscore cannot be part of a handle, so `_alice` still contains the label `alice`.
  const rest = /[a-z0-9-]+$/i.exec((labels[from - 1] ?? '').slice(-maxLabelLength));
  const name = [...(rest ?? []), ...labels.slice(from)];
  return name.length >= 2 && /^[a-z][a-z0-9-]*[a-z0-9]$/i.test(name.at(-1) ?? '') ? name.join('.') : null;
}

/**
 * Removes dots and hyphens from both ends of a token in linear time; a pattern that ends with `$` would take quadratic
 * time.
 */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && '.-'.includes(text.charAt(start))) start += 1;
  while (end > start && '.-'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Returns true for text such as `ended.It`, in which the space between two sentences is missing. */
function isSentenceEnd(name: string): boolean {
  return /^[a-z0-9-]+\.[A-Z][a-z]*$/.test(name);
}

// Normalizes text before the privacy scan: removes compatibility forms, invisible characters and nested encodings,
// which could hide an identity. Only the scan uses the result, which is never published.

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
function plainText(text: string): string | null {
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

/**
 * Rules for label values that may be published by name. A label value is untrusted text and may be a person's name. A
 * value is therefore published only if it has the syntax of the lexicon and does not look like an identity.
 */

/** Matches the lexicon's value syntax: lower-case letters and hyphens, with `!` before a global value. */
const syntax = /^!?[a-z-]{1,100}$/;
/** Matches a part between hyphens that is longer than any word, such as a key or an encoded number. */
const longPart = /[a-z]{24,}/;
/** Matches a part of at least twelve hexadecimal letters. */
const hexadecimal = /(?:^|-)[a-f]{12,}(?:-|$)/;
/** Matches a DID whose colons are replaced by hyphens. */
const spelledDid = /(?:^|-)did-(?:plc|web|key)-/;
/** Matches a handle whose dots are replaced by hyphens, under a domain in which handles are in use. */
const spelledHandle = /[a-z]-(?:com|net|org|xyz|bsky-(?:social|app|team|network))$/;

/** Returns true if a value has the syntax of the lexicon, regardless of its meaning. */
export function isValueSyntax(value: string): boolean {
  return syntax.test(value);
}

/** Returns true if a declared value may be published by name. */
export function isPublishableValue(value: string): boolean {
  if (!isValueSyntax(value)) return false;
  const shapes = [longPart, hexadecimal, spelledDid, spelledHandle];
  return shapes.every((shape) => !shape.test(value)) && findIdentity(value) === null;
}
