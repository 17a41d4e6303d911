const maxLength = 253;
const syntax = /^(?:[a-zA-Z0-9](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?\.)+[a-zA-Z](?:[a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?$/;

/**
 * Returns true if the text has the syntax of a handle (AT Protocol, Handle), which does not imply that the handle
 * resolves.
 */
export function isHandle(text: string): boolean {
  return text.length <= maxLength && syntax.test(text);
}

/** Top-level domains outside the public network, whose handles are never resolved (AT Protocol, Handle). */
const unresolvable = new Set(['alt', 'arpa', 'example', 'internal', 'invalid', 'local', 'localhost', 'onion', 'test']);

/** Returns true if a handle's top-level domain allows its resolution. */
export function isResolvableHandle(handle: string): boolean {
  return isHandle(handle) && !unresolvable.has(handle.slice(handle.lastIndexOf('.') + 1).toLowerCase());
}
