import { identityPlacesIn } from '../archive/identity-places.ts';
import { describeLeak, findLeak, findLeakExcept } from '../facts/representation.ts';
import { scanJson } from '../input/json-budget.ts';
import { inputLimits } from '../input/limits.ts';

/**
 * Applies the privacy scan of the facts API to a published body. A body that is not JSON is scanned as plain text.
 * Returns a description of the first identity, without its text, or null if the body contains no identity.
 */
export function findIdentity(body: Uint8Array): string | null {
  const leak = findLeak(parsedBody(body));
  return leak && describeLeak(leak);
}

/**
 * Applies the privacy scan to the values of a file of the archive. Returns a description of the first identity, without
 * its text, or null if the file contains no identity.
 */
export function findIdentityIn(name: string, value: object): string | null {
  const leak = findLeakExcept(identityPlacesIn(name), value);
  return leak && describeLeak(leak);
}

function parsedBody(body: Uint8Array): object {
  const text = Buffer.from(body).toString('utf8');
  if (scanJson(body, inputLimits.archivedFact).fault !== null) return { text };
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : { text };
  } catch {
    return { text };
  }
}
