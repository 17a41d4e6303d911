import { createHash, createPrivateKey, createPublicKey, type KeyObject } from 'node:crypto';

/** Ed25519 keys of signed notes (C2SP signed-note). Each key has a name and an id, which its signature lines repeat. */

/** Identifier of Ed25519 signatures in key ids and in encoded keys. */
const ed25519 = 1;
const keyBytes = 32;
/** Prefixes of the DER encodings of Ed25519 keys (RFC 8410); the 32 bytes of the key follow. */
const privatePrefix = Buffer.from('302e020100300506032b657004220420', 'hex');
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex');
const signerLabel = 'PRIVATE+KEY+';

/** A key that verifies signatures. */
export interface VerifierKey {
  readonly name: string;
  /** Key id: 32 bits in big-endian order. */
  readonly id: Buffer;
  readonly publicKey: KeyObject;
  /** Published text form of the key: `NAME+ID+KEY`. */
  readonly text: string;
}

/** A key that signs. */
export interface SignerKey {
  readonly verifier: VerifierKey;
  readonly privateKey: KeyObject;
  /** Text form of the private key, as stored in the key file. */
  readonly text: string;
}

/**
 * Returns true for a valid key name: at most 255 characters, not empty, and without white space, control characters,
 * invisible characters and plus signs.
 */
export function isKeyName(name: string): boolean {
  return name !== '' && name.length <= 255 && !/[\p{White_Space}\p{Cc}\p{Cf}+]/u.test(name);
}

/** Creates a signing key from 32 random bytes. Throws RangeError if the name or the seed is invalid. */
export function signerKey(name: string, seed: Uint8Array): SignerKey {
  if (!isKeyName(name) || seed.length !== keyBytes)
    throw new RangeError('a signing key requires a valid name and 32 bytes');
  const privateKey = createPrivateKey({ key: Buffer.concat([privatePrefix, seed]), format: 'der', type: 'pkcs8' });
  const publicDer = createPublicKey(privateKey).export({ format: 'der', type: 'spki' });
  const verifier = verifierKey(name, publicDer.subarray(publicPrefix.length));
  const text = `${signerLabel}${name}+${verifier.id.toString('hex')}+${encoded(seed)}`;
  return { verifier, privateKey, text };
}

/** Parses the text form of a signing key; null if it is malformed, or if the id does not match the key. */
export function parseSignerKey(text: string): SignerKey | null {
  if (!text.startsWith(signerLabel)) return null;
  const parts = partsOf(text.slice(signerLabel.length));
  if (!parts) return null;
  const key = signerKey(parts.name, parts.bytes);
  return key.text === text ? key : null;
}

/** Parses the text form of a verifying key; null if it is malformed, or if the id does not match the key. */
export function parseVerifierKey(text: string): VerifierKey | null {
  const parts = partsOf(text);
  if (!parts) return null;
  const key = verifierKey(parts.name, parts.bytes);
  return key.text === text ? key : null;
}

function verifierKey(name: string, bytes: Uint8Array): VerifierKey {
  const id = createHash('sha256').update(`${name}\n`).update(Buffer.of(ed25519)).update(bytes).digest().subarray(0, 4);
  const publicKey = createPublicKey({ key: Buffer.concat([publicPrefix, bytes]), format: 'der', type: 'spki' });
  return { name, id, publicKey, text: `${name}+${id.toString('hex')}+${encoded(bytes)}` };
}

function encoded(bytes: Uint8Array): string {
  return Buffer.concat([Buffer.of(ed25519), bytes]).toString('base64');
}

/**
 * Splits `NAME+ID+KEY` into the name and the key bytes; null if the text does not have this form. The encoded key
 * itself may contain plus signs.
 */
function partsOf(text: string): { name: string; bytes: Buffer } | null {
  const [name = '', id = '', ...rest] = text.split('+');
  const bytes = parseBase64(rest.join('+'));
  if (!isKeyName(name) || !/^[0-9a-f]{8}$/.test(id)) return null;
  if (bytes?.length !== keyBytes + 1 || bytes[0] !== ed25519) return null;
  return { name, bytes: bytes.subarray(1) };
}

/** Decodes standard Base64; null for any text that is not the canonical encoding of its bytes. */
export function parseBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
