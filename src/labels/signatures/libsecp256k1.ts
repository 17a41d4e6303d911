import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';

/**
 * libsecp256k1, which checks signatures with a k256 key two to five times as fast as OpenSSL: compiled for this platform
 * if the package contains such a file, otherwise as WebAssembly, which runs everywhere and has isolated memory. Both are
 * the same C code and give the same verdict; `docs/scale.md` has their measurements.
 */

/**
 * Function that verifies a signature (64 bytes, low-S) over a SHA-256 digest with a public key, which is an
 * uncompressed point. Returns false if a number exceeds the order of the curve; never throws.
 */
export type VerifySecp256k1 = (signature: Uint8Array, digest: Uint8Array, point: Uint8Array) => boolean;

/** Part of the native module that is used. */
interface NativeModule {
  readonly Secp256k1: new () => {
    /** Returns 0 for a valid signature. Does not check the size of the point. */
    ecdsaVerify(signature: Uint8Array, digest: Uint8Array, point: Uint8Array): number;
  };
}

const [signatureBytes, digestBytes, pointBytes] = [64, 32, 65];

/** Directories of the native modules: next to the bundle, and in the package of the library for the sources. */
const folders = ['./secp256k1/', '../../../node_modules/secp256k1/prebuilds/'];
/** Files of a platform. The module for another C library cannot be loaded, so that the next one is tried. */
const files = ['secp256k1.node', 'secp256k1.glibc.node', 'secp256k1.musl.node'];

let loading: Promise<VerifySecp256k1 | null> | undefined;
let loaded: VerifySecp256k1 | null = null;

/** Loads the fastest form of the library. Resolves to null if the platform cannot load it. */
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
  loaded = nativeSecp256k1() ?? (await wasmSecp256k1());
  return loaded;
}

/** Loads the native module; returns null if the package has none that this platform can load. */
export function nativeSecp256k1(): VerifySecp256k1 | null {
  const require = createRequire(import.meta.url);
  for (const folder of folders) {
    for (const file of files) {
      const path = fileURLToPath(new URL(`${folder}${platform}-${arch}/${file}`, import.meta.url));
      try {
        const native = new (require(path) as NativeModule).Secp256k1();
        return (signature, digest, point) =>
          signature.length === signatureBytes &&
          digest.length === digestBytes &&
          point.length === pointBytes &&
          native.ecdsaVerify(signature, digest, point) === 0;
      } catch {
        // The file does not exist, or is for another C library.
      }
    }
  }
  return null;
}

/** Loads the library as WebAssembly; resolves to null if the platform cannot load it. */
export async function wasmSecp256k1(): Promise<VerifySecp256k1 | null> {
  try {
    // Only this file of the package is imported, because its index would load and initialize all modules.
    const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js');
    const { verifySignatureCompactLowS } = await instantiateSecp256k1();
    return (signature, digest, point) => verifySignatureCompactLowS(signature, point, digest);
  } catch {
    return null;
  }
}
