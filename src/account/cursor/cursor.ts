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

/** Creates and opens cursors; any process with the same secrets opens the cursors of another. */
export interface Cursors {
  /** Returns the text of a cursor; deterministic. */
  seal(cursor: Cursor): string;
  /** Decodes a cursor; null unless one of our secrets sealed exactly this text. */
  open(text: string): Cursor | null;
}

interface Keys {
  readonly cipher: Buffer;
  readonly nonce: Buffer;
}

/** Creates cursors with secrets of 32 bytes each: the first seals, every one opens. */
export function createCursors(secrets: readonly [Buffer, ...Buffer[]]): Cursors {
  const [current, ...others] = secrets.map(keysOf) as [Keys, ...Keys[]];
  return {
    seal: (cursor) => seal(current, cursorBytes(cursor)).toString('base64url'),
    open(text) {
      if (text.length > maxCursorLength) return null;
      const bytes = Buffer.from(text, 'base64url');
      // A different encoding of the same bytes was not issued by us.
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
 * The nonce is derived from the content: a page that is requested twice has the same bytes, and two different cursors
 * never share a nonce.
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
    // Altered, or sealed with another secret: the two cases are indistinguishable.
    return null;
  }
}

/**
 * Returns the mark of a store's generation and revision in a cursor: a cursor with another mark cannot be continued.
 */
export function markOf({ generationId, revision }: Pick<Frontier, 'generationId' | 'revision'>): GenerationMark {
  // Revision 0 is omitted, for cursors from before revisions existed.
  const text = revision === 0 ? generationId : `${generationId} ${revision}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 16) as GenerationMark;
}
