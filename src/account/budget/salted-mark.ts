import { hash, randomBytes } from 'node:crypto';

/** Characters of a mark: 72 bits, so that two of a million names hardly ever share one. */
const markCharacters = 12;

/**
 * Marks that stand for names (of clients, of accounts) under a salt of their own, which is in no other place: with the
 * function a name is forgotten. The salt is secret and of fixed length, and marks are shown to nobody, so that a plain hash
 * serves; a keyed one (HMAC) costs several times as much, and a flood of requests asks for many.
 */
export function saltedMark(): (name: string) => string {
  const salt = randomBytes(32).toString('base64');
  return (name) => hash('sha256', salt + name, 'base64url').slice(0, markCharacters);
}
