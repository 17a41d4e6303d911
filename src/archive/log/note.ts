import { createHash, createPrivateKey, createPublicKey, type KeyObject, sign, verify } from 'node:crypto';
import { utf8Text } from '../days/records.ts';
import { hashBytes } from './merkle.ts';

/**
 * The signed head of a log: a checkpoint (C2SP tlog-checkpoint) is the text of a signed note (C2SP signed-note). A note
 * is a text, an empty line, and one line for each signature. Its Ed25519 keys have a name and an id, which the signature
 * lines repeat.
 */

/** Head of a log: its origin, size and root hash (C2SP tlog-checkpoint). */
export interface Checkpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

/** Result of opening a signed checkpoint. */
type OpenedCheckpoint =
  | { readonly kind: 'verified'; readonly checkpoint: Checkpoint }
  | { readonly kind: Exclude<OpenedNote['kind'], 'verified'> };

/** Formats the text of a checkpoint, which the signature covers. */
export function formatCheckpoint({ origin, size, root }: Checkpoint): string {
  return `${origin}\n${size}\n${root.toString('base64')}\n`;
}

/** Parses the text of a checkpoint; extension lines are ignored. Returns null if the text is malformed. */
export function parseCheckpoint(text: string): Checkpoint | null {
  if (!text.endsWith('\n')) return null;
  const lines = text.slice(0, -1).split('\n');
  const [origin = '', size = '', hash = ''] = lines;
  const root = parseBase64(hash);
  if (lines.length < 3 || lines.includes('') || !/^(?:0|[1-9]\d{0,15})$/.test(size)) return null;
  if (!Number.isSafeInteger(Number(size)) || root?.length !== hashBytes) return null;
  return { origin, size: Number(size), root };
}

/** Signs a checkpoint. The origin of the log is the name of the key. */
export function signCheckpoint(head: Omit<Checkpoint, 'origin'>, key: SignerKey): string {
  return signNote(formatCheckpoint({ origin: key.verifier.name, ...head }), key);
}

/**
 * Opens a signed checkpoint with the key of its log. Treats a checkpoint as malformed if its origin is not the key's
 * name.
 */
export function openCheckpoint(note: Uint8Array, key: VerifierKey): OpenedCheckpoint {
  const opened = openNote(note, key);
  if (opened.kind !== 'verified') return opened;
  const checkpoint = parseCheckpoint(opened.text);
  return checkpoint?.origin === key.name ? { kind: 'verified', checkpoint } : { kind: 'malformed' };
}

/** Maximum length of a note, in bytes. */
export const maxNoteBytes = 65_536;
/** Maximum number of signature lines. */
const maxSignatures = 100;
const idBytes = 4;

interface SignatureLine {
  readonly name: string;
  readonly id: Buffer;
  readonly signature: Buffer;
}

/** Result of opening a note with a key. The text of a refused note must not be used. */
type OpenedNote =
  | { readonly kind: 'verified'; readonly text: string }
  | { readonly kind: 'malformed' }
  | { readonly kind: 'unknown_key' }
  | { readonly kind: 'invalid_signature' };

/** Signs a text. Throws RangeError if the text does not end with a newline or contains other control characters. */
export function signNote(text: string, { verifier, privateKey }: SignerKey): string {
  if (!isText(text))
    throw new RangeError('the text of a note must end with a newline and must not contain other control characters');
  const signature = Buffer.concat([verifier.id, sign(null, Buffer.from(text), privateKey)]);
  return `${text}\n— ${verifier.name} ${signature.toString('base64')}\n`;
}

/**
 * Opens a note with one known key. Signatures of unknown keys are ignored. A note with an invalid signature of the
 * known key is refused, even if it also has a valid one.
 */
export function openNote(note: Uint8Array, key: VerifierKey): OpenedNote {
  const parsed = parseNote(note);
  if (!parsed) return { kind: 'malformed' };
  const known = parsed.signatures.filter(({ name, id }) => name === key.name && id.equals(key.id));
  if (known.length === 0) return { kind: 'unknown_key' };
  const bytes = Buffer.from(parsed.text);
  const isValid = known.every(({ signature }) => verify(null, bytes, key.publicKey, signature));
  return isValid ? { kind: 'verified', text: parsed.text } : { kind: 'invalid_signature' };
}

function parseNote(note: Uint8Array): { text: string; signatures: SignatureLine[] } | null {
  if (note.length > maxNoteBytes) return null;
  const whole = utf8Text(note);
  if (whole === null || !isText(whole)) return null;
  const split = whole.lastIndexOf('\n\n');
  if (split < 0) return null;
  const lines = whole.slice(split + 2, -1).split('\n');
  const signatures = lines.map(parseLine).filter((line) => line !== null);
  if (signatures.length !== lines.length || lines.length > maxSignatures) return null;
  return { text: whole.slice(0, split + 1), signatures };
}

function isText(text: string): boolean {
  return text.endsWith('\n') && [...text].every((character) => character >= ' ' || character === '\n');
}

function parseLine(line: string): SignatureLine | null {
  const [dash, name = '', signature = '', ...more] = line.split(' ');
  const bytes = parseBase64(signature);
  if (dash !== '—' || more.length > 0 || !isKeyName(name) || bytes === null || bytes.length <= idBytes) return null;
  return { name, id: bytes.subarray(0, idBytes), signature: bytes.subarray(idBytes) };
}

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
function parseBase64(text: string): Buffer | null {
  const bytes = Buffer.from(text, 'base64');
  return bytes.toString('base64') === text ? bytes : null;
}
