import type { Reply } from '../../src/http/reply.ts';

/** Returns the value of a response header, or undefined if the response does not have it. */
export function headerOf({ headers }: Reply, name: string): string | undefined {
  const at = headers.findIndex((text, index) => index % 2 === 0 && text === name);
  return at < 0 ? undefined : headers[at + 1];
}
