import { StoreError } from '../errors.ts';

/** Returns a text within its limit; throws `invalid_query` for a longer one. */
export function bounded(text: string, max: number, what: string): string {
  if (text.length > max) throw new StoreError('invalid_query', `${what} is longer than ${max} characters`);
  return text;
}
