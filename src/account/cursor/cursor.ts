import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import { inputLimits } from '../../input/limits.ts';
import type { Frontier } from '../../store/port.ts';
import type { Cursor, GenerationMark } from '../query/snapshot.ts';
import { cursorBytes, cursorOfBytes } from './cursor-bytes.ts';

/** Maximum length of a cursor's text, in characters. */
export const maxCursorLength = inputLimits.cursor.bytes;

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts and decrypts cursors. Any process with the same secrets can open the cursors of another process. */
export interface Cursors {
  /** Returns the text of a cursor. Equal cursors have equal text. */
  seal(cursor: Cursor): string;
  /** Decodes a cursor. Returns null unless the text was sealed, in exactly this form, with one of the secrets. */
  open(text: string): Cursor | null;
}

interface Keys {
  readonly cipher: Buffer;
  readonly nonce: Buffer;
}

/** Creates a `Cursors` with secrets of 32 bytes each: the first secret seals, and every secret opens. */
export function createCursors(secrets: readonly [Buffer, ...Buffer[]]): Cursors {
  const [current, ...others] = secrets.map(keysOf) as [Keys, ...Keys[]];
  return {
    seal: (cursor) => seal(current, cursorBytes(cursor)).toString('base64url'),
    open(text) {
      if (text.length > maxCursorLength) return null;
      const bytes = Buffer.from(text, 'base64url');
      // Refuse another base64 encoding of the same bytes, because this service did not issue it.
      if (bytes.length <= nonceBytes + tagBytes || bytes.toString('base64url') !== text) return null;
      for (const keys of [current, ...others]) {
        const plain = unseal(keys, bytes);
        if (plain) return cursorOfBytes(plain);
      }
      return null;
    },
  };
}

function keysOf(secret: Buffer): Keys {
  const derive = (use: string): Buffer =>
    Buffer.from(hkdfSync('sha256', secret, '', `almanac account cursor v1 ${use}`, 32));
  return { cipher: derive('cipher'), nonce: derive('nonce') };
}

/**
 * Encrypts a cursor with a nonce derived from its content: equal cursors have equal text, and two different cursors never
 * share a nonce.
 */
function seal(keys: Keys, plain: Buffer): Buffer {
  const nonce = createHmac('sha256', keys.nonce).update(plain).digest().subarray(0, nonceBytes);
  const sealing = createCipheriv(cipher, keys.cipher, nonce);
  const sealed = Buffer.concat([sealing.update(plain), sealing.final()]);
  return Buffer.concat([nonce, sealed, sealing.getAuthTag()]);
}

function unseal(keys: Keys, bytes: Buffer): Buffer | null {
  const opening = createDecipheriv(cipher, keys.cipher, bytes.subarray(0, nonceBytes), { authTagLength: tagBytes });
  opening.setAuthTag(bytes.subarray(-tagBytes));
  try {
    return Buffer.concat([opening.update(bytes.subarray(nonceBytes, -tagBytes)), opening.final()]);
  } catch {
    // The text was altered or sealed with a different secret; the two cases are indistinguishable.
    return null;
  }
}

/** Returns the mark of a store's generation and revision. A cursor with a different mark cannot be continued. */
export function markOf({ generationId, revision }: Pick<Frontier, 'generationId' | 'revision'>): GenerationMark {
  // The mark omits revision 0, so that it equals the mark in cursors that have no revision.
  const text = revision === 0 ? generationId : `${generationId} ${revision}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 16) as GenerationMark;
}
