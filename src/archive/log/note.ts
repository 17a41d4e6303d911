import { sign, verify } from 'node:crypto';
import { isKeyName, parseBase64, type SignerKey, type VerifierKey } from './keys.ts';

/** Signed notes (C2SP signed-note): a text, an empty line, and one line for each signature. */

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
export type OpenedNote =
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
  const whole = decoded(note);
  if (whole === null || !isText(whole)) return null;
  const split = whole.lastIndexOf('\n\n');
  if (split < 0) return null;
  const lines = whole.slice(split + 2, -1).split('\n');
  const signatures = lines.map(parseLine).filter((line) => line !== null);
  if (signatures.length !== lines.length || lines.length > maxSignatures) return null;
  return { text: whole.slice(0, split + 1), signatures };
}

function decoded(bytes: Uint8Array): string | null {
  try {
    // Set `ignoreBOM` to keep a leading byte order mark, because the signature covers it.
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return null;
  }
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
