import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync } from 'node:crypto';
import { inputLimits } from '../input/limits.ts';
import type { Frontier } from '../store/port.ts';
import { cursorBytes, cursorOfBytes } from './cursor-bytes.ts';
import type { Cursor, GenerationMark } from './snapshot.ts';

/** Longest text of a cursor, in characters. */
export const maxCursorLength = inputLimits.cursor.bytes;

const cipher = 'aes-256-gcm';
const nonceBytes = 12;
const tagBytes = 16;

/** Makes and opens cursors; any process with the same secrets opens what another made. */
export interface Cursors {
  /** The text of a cursor. The same cursor gives the same text. */
  seal(cursor: Cursor): string;
  /** The cursor of a text; null when no secret of ours made it exactly as it is. */
  open(text: string): Cursor | null;
}

interface Keys {
  readonly cipher: Buffer;
  readonly nonce: Buffer;
}

/** Cursors under secrets of 32 bytes each: the first makes them, each opens them. */
export function createCursors(secrets: readonly [Buffer, ...Buffer[]]): Cursors {
  const [current, ...others] = secrets.map(keysOf) as [Keys, ...Keys[]];
  return {
    seal: (cursor) => seal(current, cursorBytes(cursor)).toString('base64url'),
    open(text) {
      if (text.length > maxCursorLength) return null;
      const bytes = Buffer.from(text, 'base64url');
      // Another spelling of the same bytes is not what was given out.
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
 * The nonce is made from what is sealed: a page that is asked for twice has the same bytes, and two different
 * cursors do not share a nonce.
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
    // Altered, or made under another secret: one cannot be told from the other.
    return null;
  }
}

/** Stands for a generation of the store and its revision in a cursor: one that is of another cannot be continued. */
export function markOf({ generationId, revision }: Pick<Frontier, 'generationId' | 'revision'>): GenerationMark {
  // Without a revision as cursors were made before there were any.
  const text = revision === 0 ? generationId : `${generationId} ${revision}`;
  return createHash('sha256').update(text).digest('hex').slice(0, 16) as GenerationMark;
}
