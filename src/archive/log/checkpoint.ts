import { parseBase64, type SignerKey, type VerifierKey } from './keys.ts';
import { hashBytes } from './merkle.ts';
import { type OpenedNote, openNote, signNote } from './note.ts';

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
