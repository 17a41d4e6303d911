/**
 * Function that verifies a signature (64 bytes, low-S) over a SHA-256 digest with a public key, which is an
 * uncompressed point. Returns false if a number exceeds the order of the curve; never throws.
 */
export type VerifySecp256k1 = (signature: Uint8Array, digest: Uint8Array, point: Uint8Array) => boolean;

let loading: Promise<VerifySecp256k1 | null> | undefined;
let loaded: VerifySecp256k1 | null = null;

/**
 * Loads libsecp256k1 as WebAssembly. The library checks two and a half times as many signatures per second as
 * OpenSSL, runs the same code on every platform, and has isolated memory. Resolves to null if the platform cannot
 * load it.
 */
export function loadSecp256k1(): Promise<VerifySecp256k1 | null> {
  loading ??= load();
  return loading;
}

/**
 * Returns the library, or null while it is not loaded. The first call starts to load the library; OpenSSL checks the
 * signatures until the library is loaded.
 */
export function libsecp256k1(): VerifySecp256k1 | null {
  if (loading === undefined) void loadSecp256k1();
  return loaded;
}

async function load(): Promise<VerifySecp256k1 | null> {
  try {
    // Only this file of the package is imported, because its index would load and initialize all modules.
    const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js');
    const { verifySignatureCompactLowS } = await instantiateSecp256k1();
    loaded = (signature, digest, point) => verifySignatureCompactLowS(signature, point, digest);
  } catch {
    loaded = null;
  }
  return loaded;
}
