import { SigningKey } from '../signing-key.ts';

const count = 64;
let keys: readonly string[] = [];

/** Makes the keys; before `churnedKey` is asked. */
export async function makeChurnedKeys(): Promise<void> {
  keys = await Promise.all(
    Array.from({ length: count }, (_, at) =>
      new SigningKey(at % 3 === 2 ? 'p256' : 'k256', `churned ${at}`).multikey(),
    ),
  );
}

/** Another key for each number, of a short list. */
export function churnedKey(number: number): string {
  return keys[number % keys.length] ?? '';
}
