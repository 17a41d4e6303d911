import { OperatorError } from '../ops/errors.ts';
import { StoreError } from '../store/errors.ts';

/** Opens a store; reports an error that the operator can correct as one line. */
export function opened<T>(url: string, open: () => T): T {
  try {
    return open();
  } catch (error) {
    throw refused(url, error);
  }
}

/** The error of a store as one line for a person; any other as it is. */
export function refused(url: string, error: unknown): unknown {
  return error instanceof StoreError ? new OperatorError(`cannot open the store ${url}: ${error.message}`) : error;
}
