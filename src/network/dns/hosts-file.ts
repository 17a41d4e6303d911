import type { LookupAddress } from 'node:dns';
import { readFile, stat } from 'node:fs/promises';
import { isIP } from 'node:net';

/** A hosts file in which names can be looked up. */
export interface HostsFile {
  /**
   * Returns the addresses of a name; empty if the file does not contain the name, is too large or cannot be read. Never
   * rejects.
   */
  addressesOf(name: string): Promise<readonly LookupAddress[]>;
}

/** Maximum size of a hosts file, in bytes. */
const maxBytes = 1024 * 1024;

/**
 * Creates a resolver that looks up names in a hosts file. It reads the file at the first look-up, and again when the
 * modification time or size of the file has changed.
 */
export function createHostsFile(path: string): HostsFile {
  let names = new Map<string, LookupAddress[]>();
  let version = '';

  async function refresh(): Promise<void> {
    const { mtimeMs, size } = await stat(path);
    const found = `${mtimeMs} ${size}`;
    if (found === version) return;
    names = size > maxBytes ? new Map() : parseHosts(await readFile(path, 'utf8'));
    version = found;
  }

  return {
    async addressesOf(name) {
      await refresh().catch(() => {
        names = new Map();
        version = '';
      });
      return names.get(name.toLowerCase()) ?? [];
    },
  };
}

/** Parses the text of a hosts file. Skips invalid lines, as the system does. */
export function parseHosts(text: string): Map<string, LookupAddress[]> {
  const names = new Map<string, LookupAddress[]>();
  for (const line of text.split('\n')) {
    const [address = '', ...aliases] = line.replace(/#.*/, '').trim().split(/\s+/);
    const family = isIP(address);
    if (family === 0) continue;
    for (const alias of aliases) {
      const name = alias.toLowerCase();
      names.set(name, [...(names.get(name) ?? []), { address, family }]);
    }
  }
  return names;
}
