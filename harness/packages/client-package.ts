import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/**
 * Writes the package of the TypeScript client into an empty directory: one module, its types, a manifest, the readme
 * and the licence. The build must be up to date.
 */
export function writeClientPackage(root: string, directory: string): void {
  mkdirSync(directory, { recursive: true });
  const source = join(root, 'clients', 'typescript');
  const manifest = { ...json(join(source, 'package.json')), version: json(join(root, 'package.json')).version };
  writeFileSync(join(directory, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  copyFileSync(join(source, 'README.md'), join(directory, 'README.md'));
  copyFileSync(join(root, 'LICENSE'), join(directory, 'LICENSE'));
  copyFileSync(join(root, 'dist', 'client.js'), join(directory, 'index.js'));
  for (const [name, text] of declarations(join(root, 'dist', 'client'))) writeFileSync(join(directory, name), text);
}

/** Returns the declaration files that `index.d.ts` imports directly or indirectly, by name. */
function declarations(directory: string): Map<string, string> {
  const found = new Map<string, string>();
  const pending = ['index'];
  for (let name = pending.pop(); name !== undefined; name = pending.pop()) {
    const file = `${name}.d.ts`;
    if (found.has(file)) continue;
    const text = readFileSync(join(directory, file), 'utf8');
    pending.push(...[...text.matchAll(/ from '\.\/([a-z-]+)\.ts'/g)].map(([, imported = '']) => imported));
    // Import `.js`, because only consumers that set `allowImportingTsExtensions` can import `.ts`.
    found.set(
      file,
      text.replaceAll(/( from '\.\/[a-z-]+)\.ts'/g, "$1.js'").replaceAll('almanac/client', 'almanac-client'),
    );
  }
  return found;
}

function json(path: string): Record<string, unknown> {
  return JSON.parse(readFileSync(path, 'utf8')) as Record<string, unknown>;
}
