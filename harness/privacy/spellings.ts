/** Functions that change the spelling of a string, by name. Most of them hide an identity from a plain text search. */
export const spellings: Readonly<Record<string, (text: string) => string>> = {
  plain: (text) => text,
  'upper case': (text) => text.toUpperCase(),
  'in a sentence': (text) => `see ${text}, again`,
  'percent-encoded': (text) => each(text, (code) => `%${hex(code, 2)}`),
  'percent-encoded punctuation': (text) => text.replaceAll(/[:.@]/g, (sign) => `%${hex(sign.charCodeAt(0), 2)}`),
  'percent-encoded twice': (text) => each(text, (code) => `%25${hex(code, 2)}`),
  'decimal entities': (text) => each(text, (code) => `&#${code};`),
  'hexadecimal entities': (text) => each(text, (code) => `&#x${hex(code, 2)};`),
  'entities without a semicolon': (text) =>
    text.replaceAll(/[:.@]/g, (sign) => `&#x${hex(sign.charCodeAt(0), 4)} `.trim()),
  'named entities': (text) => text.replaceAll(':', '&colon;').replaceAll('.', '&period;').replaceAll('@', '&commat;'),
  'entities of entities': (text) => text.replaceAll(/[:.]/g, (sign) => `&amp;#${sign.charCodeAt(0)};`),
  'unicode escapes': (text) => each(text, (code) => `\\u${hex(code, 4)}`),
  'braced unicode escapes': (text) => each(text, (code) => `\\u{${hex(code, 2)}}`),
  'hexadecimal escapes': (text) => each(text, (code) => `\\x${hex(code, 2)}`),
  'full-width': (text) => each(text, (code) => (code > 0x20 ? String.fromCodePoint(code + 0xfee0) : ' ')),
  'mathematical letters': (text) =>
    text.replaceAll(/[a-z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) - 97 + 0x1d41a)),
  'circled letters': (text) =>
    text.replaceAll(/[a-z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) - 97 + 0x24d0)),
  'zero-width spaces': (text) => [...text].join('\u200b'),
  'zero-width joiners': (text) => [...text].join('\u200d'),
  'soft hyphens': (text) => [...text].join('\u00ad'),
  'variation selectors': (text) => [...text].join('\ufe0f'),
  'bidirectional marks': (text) => `\u202a${[...text].join('\u2060')}\u202c`,
  'full-width and percent-encoded': (text) =>
    text.replaceAll(/[:.]/g, (sign) => encodeURIComponent(String.fromCodePoint(sign.charCodeAt(0) + 0xfee0))),
  mixed: (text) =>
    [...text]
      .map((letter, at) => {
        const code = letter.charCodeAt(0);
        return [letter, `%${hex(code, 2)}`, `&#${code};`, `\\u${hex(code, 4)}`, `${letter}\u200b`][at % 5];
      })
      .join(''),
};

/**
 * Returns the letters and digits of a string in lower case, after decoding every encoding in `spellings`. The
 * function shares no code with the privacy scan, and decodes more than a reader would.
 */
export function lettersOf(text: string): string {
  let current = text;
  for (let round = 0; round < 12; round += 1) {
    current = current
      .normalize('NFKC')
      .replaceAll(/[\p{Cf}\p{Cc}\p{Mn}]/gu, '')
      .replaceAll(/%([0-9a-f]{2})/gi, (_, code: string) => String.fromCharCode(Number.parseInt(code, 16)))
      .replaceAll(/&#x([0-9a-f]{1,6});?/gi, (_, code: string) => character(Number.parseInt(code, 16)))
      .replaceAll(/&#(\d{1,7});?/g, (_, code: string) => character(Number(code)))
      .replaceAll(/&(amp|colon|period|commat);?/gi, (_, name: string) => (name.toLowerCase() === 'amp' ? '&' : '.'))
      .replaceAll(/\\+u\{?([0-9a-f]{2,6})\}/gi, (_, code: string) => character(Number.parseInt(code, 16)))
      .replaceAll(/\\+u([0-9a-f]{4})/gi, (_, code: string) => character(Number.parseInt(code, 16)))
      .replaceAll(/\\+x([0-9a-f]{2})/gi, (_, code: string) => character(Number.parseInt(code, 16)));
  }
  return current.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}

function character(code: number): string {
  return code <= 0x10ffff ? String.fromCodePoint(code) : '';
}

function each(text: string, spell: (code: number) => string): string {
  return [...text].map((letter) => spell(letter.charCodeAt(0))).join('');
}

function hex(code: number, digits: number): string {
  return code.toString(16).padStart(digits, '0');
}
