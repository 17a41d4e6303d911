/** Content codings that are offered, best first. */
export const codings = ['br', 'gzip', 'identity'] as const;

/** A content coding (RFC 9110, section 8.4.1). */
export type Coding = (typeof codings)[number];

const member = /^\s*([!#$%&'*+.^_`|~0-9A-Za-z-]+)\s*(?:;\s*[qQ]\s*=\s*(0(?:\.\d{0,3})?|1(?:\.0{0,3})?)\s*)?$/;

/** Headers longer than this are not weighed: identity is always right. */
const longest = 1024;

/**
 * The coding to answer with (RFC 9110, section 12.5.3): the one with the highest weight, and of equal ones the
 * smaller answer. Identity when the header is absent, malformed, or refuses everything.
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
