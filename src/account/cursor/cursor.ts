import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import { inputLimits } from '../../input/limits.ts';
import type { Frontier } from '../../store/port.ts';
import type { Cursor, GenerationMark } from '../query/snapshot.ts';
import { cursorBytes, cursorOfBytes } from './cursor-bytes.ts';

/** Maximum length of the text of a cursor, in characters. */
export const maxCursorLength = inputLimits.cursor.bytes;

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Encrypts and decrypts cursors. A process can open the cursors of any other process with the same secrets. */
export interface Cursors {
  /** Encrypts a cursor and returns it as text. Equal cursors have equal text. */
  seal(cursor: Cursor): string;
  /** Decrypts a cursor. Returns null unless one of the secrets sealed exactly this text. */
  open(text: string): Cursor | null;
}

interface Keys {
  readonly cipher: Buffer;
  readonly nonce: Buffer;
}

/** Creates a `Cursors` from secrets of 32 bytes each. The first secret seals cursors; all secrets open them. */
export function createCursors(secrets: readonly [Buffer, ...Buffer[]]): Cursors {
  const [current, ...others] = secrets.map(keysOf) as [Keys, ...Keys[]];
  return {
    seal: (cursor) => seal(current, cursorBytes(cursor)).toString('base64url'),
    open(text) {
      if (text.length > maxCursorLength) return null;
      const bytes = Buffer.from(text, 'base64url');
      // Refuse a different base64 encoding of the same bytes, because this service never issues it.
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
 * Encrypts a cursor with a nonce that is derived from its content, so that equal cursors have equal text and different
 * cursors have different nonces.
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
    // The text was altered or was sealed with another secret; the two cases cannot be distinguished.
    return null;
  }
}

/** Returns the mark of a store's generation and revision. A cursor with a different mark is no longer valid. */
export function markOf({ generationId, revision }: Pick<Frontier, 'generationId' | 'revision'>): GenerationMark {
  // Omit revision 0, so that cursors that were issued before revisions existed keep their mark.
  const text = revision === 0 ? generationId : `${generationId} ${revision}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 16) as GenerationMark;
}
