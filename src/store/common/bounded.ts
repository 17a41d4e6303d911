import { StoreError } from '../errors.ts';

/**
 * Returns the text unchanged; throws `invalid_query` if it has more than `max` characters. `what` is the name of the
 * text in the error message.
 */
export function bounded(text: string, max: number, what: string): string {
  if (text.length > max) throw new StoreError('invalid_query', `${what} is longer than ${max} characters`);
  return text;
}
