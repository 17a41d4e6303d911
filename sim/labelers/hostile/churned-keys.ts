import { SigningKey } from '../signing-key.ts';

const count = 64;
let keys: readonly string[] = [];

/** Generates the keys. Must be awaited before `churnedKey` is called. */
export async function makeChurnedKeys(): Promise<void> {
  keys = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      new SigningKey(at % 3 === 2 ? 'p256' : 'k256', `churned ${at}`).multikey(),
    ),
  );
}

/** Returns the multikey for a number. The keys repeat, because the list is short. */
export function churnedKey(number: number): string {
  return keys[number % keys.length] ?? '';
}
