/**
 * Detects handles in text. A handle is a domain name; host names, version numbers and collection names look similar.
 * The scan therefore reports only a name that is written as a handle (`@name.tld`), and a name below a domain under
 * which handles are in use.
 */

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
export function namesHandle(text: string, hosts: ReadonlySet<string>): boolean {
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
