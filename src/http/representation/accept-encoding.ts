/** Supported content codings, ordered from the best compression to none. */
export const codings = ['br', 'gzip', 'identity'] as const;

/** A content coding (RFC 9110, section 8.4.1). */
export type Coding = (typeof codings)[number];

const member = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:;\s*[qQ]\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/;

/** Maximum length of a parsed header, in characters. A longer header selects identity. */
const longest = 1024;

/**
 * Returns the content coding for a response (RFC 9110, section 12.5.3): the coding with the highest weight or, for
 * equal weights, the best compression. Returns identity if the header is absent, malformed or too long, or rejects
 * every coding.
 */
export function chooseCoding(header: string | undefined): Coding {
  if (header === undefined || header.length > longest) return 'identity';
  const weights = new Map<string, number>();
  for (const part of header.split(',')) {
    if (part.trim() === '') continue;
    const match = member.exec(part);
    if (!match) return 'identity';
    weights.set((match[1] ?? '').toLowerCase(), match[2] === undefined ? 1 : Number(match[2]));
  }
  const any = weights.get('*');
  let best: Coding = 'identity';
  let bestWeight = weights.get('identity') ?? 0;
  for (const coding of ['gzip', 'br'] as const) {
    const weight = weights.get(coding) ?? any ?? 0;
    if (weight > 0 && weight >= bestWeight) {
      best = coding;
      bestWeight = weight;
    }
  }
  return best;
}
