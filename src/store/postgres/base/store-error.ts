import { OperatorError } from '../../../ops/errors.ts';
import { StoreError } from '../../errors.ts';
import { codeOf, isLate, stateOf } from './sqlstates.ts';

/**
 * Converts any thrown value to a `StoreError`; an `OperatorError` becomes `misconfigured`. The message contains no query
 * parameters.
 */
export function storeError(error: unknown, place: string): StoreError {
  if (error instanceof StoreError) return error;
  if (error instanceof OperatorError)
    return new StoreError('misconfigured', `${place}: ${error.message}`, { cause: error });
  const code = codeOf(error);
  const text = error instanceof Error ? error.message : String(error);
  const found = isLate(error) ? 'unreachable' : (stateOf(error)?.error ?? 'unexpected');
  return new StoreError(found, code === null ? `${place}: ${text}` : `${place}: ${text} (${code})`, { cause: error });
}
