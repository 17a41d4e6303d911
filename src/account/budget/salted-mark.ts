import { hash, randomBytes } from 'node:crypto';

/** Characters of a mark: 72 bits, so that two of a million names almost never have the same mark. */
const markCharacters = 12;

/**
 * Returns a function that replaces names (of clients, of accounts) by salted hashes. Only the function has the salt, so the
 * names cannot be recovered without it. The salt is secret and of fixed length, and marks are never published, so a plain
 * hash suffices; a keyed one (HMAC) costs several times as much, and a flood of requests needs many.
 */
export function saltedMark(): (name: string) => string {
  const salt = randomBytes(32).toString('base64');
  return (name) => hash('sha256', salt + name, 'base64url').slice(0, markCharacters);
}
