/**
 * Detection of handles in text. A handle is a domain name; hosts, versions and collection names look similar. The scan
 * reports a name that is written as a handle (`@name.tld`) and a name below a domain that is in use for handles.
 */

/** Generic top-level domains under which handles exist, in addition to the two-letter country codes. */
const domains = new Set(
  (
    'app art bio blog blue chat click cloud club com dev earth email fyi gay games gg gov info ink int land lgbt life live link lol mil ' +
    'mobi moe name net network news ngo observer one online org page party photos place pro pub rocks science sexy site ' +
    'social soy space store studio tech team today tools top town tube tv vip website wiki win work world wtf xyz zone'
  ).split(' '),
);

/** Matches host names of the network's services, which a text may contain because they are not accounts. */
const services = /(?:^|\.)bsky\.network$|^plc\.directory$|^bsky\.(?:app|social)$/;

/** Matches names of lexicons, which are reversed domain names. */
const lexicons = /^(?:app\.bsky|chat\.bsky|com\.atproto|network\.bsky|tools\.ozone)\./;

const token = /[a-z0-9._@-]+/gi;
/** Maximum length of a label of a domain name. */
const maxLabelLength = 63;
const domainLabel = /^(?!-)[a-z0-9-]{1,63}(?<!-)$/i;

/** Returns true if a plain text contains a handle; `hosts` are host names that the text may contain. */
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

/** Returns the domain name at the end of a token, with at least two labels; null if there is none. */
function domainName(text: string): string | null {
  const labels = trimmed(text).split('.');
  let from = labels.length;
  while (from > 0 && domainLabel.test(labels[from - 1] ?? '')) from -= 1;
  // `_alice` contains the label `alice`: an underscore cannot be part of a handle.
  const rest = /[a-z0-9-]+$/i.exec((labels[from - 1] ?? '').slice(-maxLabelLength));
  const name = [...(rest ?? []), ...labels.slice(from)];
  return name.length >= 2 && /^[a-z][a-z0-9-]*[a-z0-9]$/i.test(name.at(-1) ?? '') ? name.join('.') : null;
}

/** Returns a token without dots and hyphens at its ends, in linear time: a pattern that ends with `$` would be quadratic. */
function trimmed(text: string): string {
  let start = 0;
  let end = text.length;
  while (start < end && '.-'.includes(text.charAt(start))) start += 1;
  while (end > start && '.-'.includes(text.charAt(end - 1))) end -= 1;
  return text.slice(start, end);
}

/** Returns true for a name such as `ended.It`: a missing space after a sentence. */
function isSentenceEnd(name: string): boolean {
  return /^[a-z0-9-]+\.[A-Z][a-z]*$/.test(name);
}
