import { describe, expect, it } from 'vitest';
import { errorBody, errorCodes, errorTable } from './errors.ts';

describe('the error body', () => {
  it.each(errorCodes)('contains the status, the code and a message without internal details (%s)', (code) => {
    const { status, message } = errorTable[code];
    expect(errorBody(code)).toEqual({ error: { status, code, message } });
    expect(message.replace('HTTP/1.1', '')).not.toMatch(/[/\\]|node:|Error:/);
  });

  it('includes the freshness of a refused label artifact', () => {
    const freshness = {
      state: 'stale',
      age_seconds: 7201,
      basis: 'artifact_generated_at',
      max_age_seconds: 7200,
    } as const;
    expect(errorBody('source_stale', freshness).error.freshness).toEqual(freshness);
  });
});
