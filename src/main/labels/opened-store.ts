import { OperatorError } from '../../ops/errors.ts';
import { StoreError } from '../../store/errors.ts';

/** Opens a store with `open`. Converts a StoreError to a one-line OperatorError, and rethrows any other error. */
export async function opened<T>(url: string, open: () => Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    throw refused(url, error);
  }
}

/** Converts a store error to a one-line OperatorError. Returns any other error unchanged. */
export function refused(url: string, error: unknown): unknown {
  return error instanceof StoreError ? new OperatorError(`cannot open the store ${url}: ${error.message}`) : error;
}
