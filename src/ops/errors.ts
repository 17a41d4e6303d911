/** A fault that a person can mend: shown as one line, without a stack, and the process exits with 1. */
export class OperatorError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'OperatorError';
  }
}

/** The system's code of an error (`EADDRINUSE`, `EACCES`), or null. */
export function systemCode(error: unknown): string | null {
  return error instanceof Error && 'code' in error && typeof error.code === 'string' ? error.code : null;
}
