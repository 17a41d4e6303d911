import { createPublicKey, ECDH, hash, type KeyObject, verify } from 'node:crypto';
import { createRequire } from 'node:module';
import { arch, platform } from 'node:process';
import { fileURLToPath } from 'node:url';
import type { LabelKey } from '../../network/identity/did-document.ts';

/**
 * Function that checks a signature with a key: ECDSA over SHA-256, 64 bytes, low-S only (AT Protocol, Cryptography).
 */
export type SignatureCheck = (
  signed: { readonly message: Uint8Array; readonly signature: Uint8Array },
  key: LabelKey,
) => Promise<boolean>;

/** Creates the signature check. OpenSSL does all checks until the library for secp256k1 is loaded. */
export function createSignatureCheck(secp256k1: () => VerifySecp256k1 | null = libsecp256k1): SignatureCheck {
  return async ({ message, signature }, key) => {
    if (!isLowS(signature, key.curve)) return false;
    const here = key.curve === 'k256' ? secp256k1() : null;
    if (here === null) {
      const object = keyObjectOf(key);
      return object !== null && checkInPool(message, signature, object);
    }
    const point = pointOf(key);
    // The check runs on this thread, because it takes less time than the round trip to another thread.
    return point !== null && here(signature, hash('sha256', message, 'buffer'), point);
  };
}

/** Checks a signature in libuv's pool, which is as fast as a dedicated thread. */
function checkInPool(message: Uint8Array, signature: Uint8Array, key: KeyObject): Promise<boolean> {
  return new Promise((resolve) => {
    verify('sha256', message, key, derSignature(signature), (error, valid) => resolve(!error && valid));
  });
}

/** Half the order of each curve, rounded down, which is the maximum value of a low S. */
const halfOrder = {
  k256: Buffer.from('7fffffffffffffffffffffffffffffff5d576e7357a4501ddfe92f46681b20a0', 'hex'),
  p256: Buffer.from('7fffffff800000007fffffffffffffffde737d56d38bcf4279dce5617e3192a8', 'hex'),
};

function isLowS(signature: Uint8Array, curve: LabelKey['curve']): boolean {
  return signature.length === 64 && Buffer.compare(signature.subarray(32), halfOrder[curve]) <= 0;
}

/** DER of a SubjectPublicKeyInfo up to the compressed point, for each curve (RFC 5480). */
const publicKeyPrefix = {
  k256: '3036301006072a8648ce3d020106052b8104000a032200',
  p256: '3039301306072a8648ce3d020106082a8648ce3d030107032200',
};

/** Maximum number of keys in each cache of decoded keys. */
const maxDecoded = 8192;

/**
 * Returns `decode` with a cache by curve and compressed point; decoding a key costs about as much as a verification. The
 * function returns null for a key that `decode` throws for, because its point is not on the curve.
 */
function cached<T>(decode: (key: LabelKey) => T): (key: LabelKey) => T | null {
  const decoded = new Map<string, T | null>();
  return (key) => {
    const name = `${key.curve} ${key.point}`;
    const known = decoded.get(name);
    if (known !== undefined) return known;
    if (decoded.size >= maxDecoded) decoded.clear();
    let form: T | null = null;
    try {
      form = decode(key);
    } catch {
      // The point is not on the curve.
    }
    decoded.set(name, form);
    return form;
  };
}

/** Returns a key in the form that OpenSSL requires. Such an object takes 3 KB of memory. */
const keyObjectOf = cached(({ curve, point }) => {
  const der = Buffer.from(publicKeyPrefix[curve] + point, 'hex');
  return createPublicKey({ key: der, format: 'der', type: 'spki' });
});

/**
 * Returns the uncompressed bytes of a k256 key, which libsecp256k1 requires. The bytes are copied, because a part of a
 * pooled buffer would keep 64 KB in memory.
 */
const pointOf = cached(({ point }) => {
  const uncompressed = ECDH.convertKey(point, 'secp256k1', 'hex', 'hex', 'uncompressed');
  return Uint8Array.from(Buffer.from(String(uncompressed), 'hex'));
});

/**
 * Converts an ECDSA signature (64 bytes, two big-endian numbers) to DER (RFC 3279, 2.2.3). OpenSSL checks a DER
 * signature about twice as fast, because its own conversion of the 64 bytes costs more.
 */
export function derSignature(signature: Uint8Array): Uint8Array {
  const [r, s] = [integer(signature.subarray(0, 32)), integer(signature.subarray(32, 64))];
  return Buffer.concat([Buffer.of(0x30, r.length + s.length), r, s]);
}

/** Encodes a number without leading zeros, except a zero byte that keeps the number positive. */
function integer(bytes: Uint8Array): Uint8Array {
  let from = 0;
  while (from < bytes.length - 1 && bytes[from] === 0) from += 1;
  const digits = bytes.subarray(from);
  const sign = (digits[0] ?? 0) >= 0x80 ? [0] : [];
  return Buffer.concat([Buffer.of(0x02, digits.length + sign.length, ...sign), digits]);
}

/**
 * libsecp256k1, which checks signatures with a k256 key two to five times as fast as OpenSSL: compiled for this platform
 * if the package contains such a file, otherwise as WebAssembly, which runs everywhere and has isolated memory. Both are
 * the same C code and give the same verdict; `docs/scale.md` has their measurements.
 */

/**
 * Function that verifies a signature (64 bytes, low-S) over a SHA-256 digest with a public key, which is an
 * uncompressed point. Returns false if a number exceeds the order of the curve; never throws.
 */
type VerifySecp256k1 = (signature: Uint8Array, digest: Uint8Array, point: Uint8Array) => boolean;

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
function loadSecp256k1(): Promise<VerifySecp256k1 | null> {
  loading ??= load();
  return loading;
}

/**
 * Returns the library, or null while it is not loaded. The first call starts to load the library; OpenSSL checks the
 * signatures until the library is loaded.
 */
function libsecp256k1(): VerifySecp256k1 | null {
  if (loading === undefined) void loadSecp256k1();
  return loaded;
}

/** Forms of the library: the fastest, once it is loaded, and each by itself. */
export const secp256k1 = { load: loadSecp256k1, loaded: libsecp256k1, native: nativeSecp256k1, wasm: wasmSecp256k1 };

async function load(): Promise<VerifySecp256k1 | null> {
  loaded = nativeSecp256k1() ?? (await wasmSecp256k1());
  return loaded;
}

/** Loads the native module; returns null if the package has none that this platform can load. */
function nativeSecp256k1(): VerifySecp256k1 | null {
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
async function wasmSecp256k1(): Promise<VerifySecp256k1 | null> {
  try {
    // Only this file of the package is imported, because its index would load and initialize all modules.
    const { instantiateSecp256k1 } = await import('@bitauth/libauth/build/lib/crypto/secp256k1.js');
    const { verifySignatureCompactLowS } = await instantiateSecp256k1();
    return (signature, digest, point) => verifySignatureCompactLowS(signature, point, digest);
  } catch {
    return null;
  }
}
