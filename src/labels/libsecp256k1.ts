import { createRequire } from 'node:module';

/** What is used of libsecp256k1: checks about eight times as many signatures a second as OpenSSL. */
export type Secp256k1 = Pick<typeof import('secp256k1'), 'ecdsaVerify'>;

let found: Secp256k1 | null | undefined;

/**
 * The library, loaded when it is first asked for; null where the package brings no binary for this platform. The package's
 * other implementation, in JavaScript, is never loaded.
 */
export function libsecp256k1(): Secp256k1 | null {
  if (found === undefined) found = load();
  return found;
}

function load(): Secp256k1 | null {
  try {
    return createRequire(import.meta.url)('secp256k1/bindings') as Secp256k1;
  } catch {
    return null;
  }
}
