import { OperatorError } from '../ops/errors.ts';
import { StoreError } from '../store/errors.ts';

/** What a store refuses at the door is the operator's to mend: the same, or the error as one line for a person. */
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
