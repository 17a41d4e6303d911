import { execFile } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../process/imports.ts';

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

const run = promisify(execFile);

interface LockedPackage {
  readonly dev?: boolean;
  readonly optional?: boolean;
  readonly devOptional?: boolean;
}

/** Packs the program into a directory. Resolves with the file name of the tarball. */
export async function packProgram(directory: string): Promise<string> {
  const { stdout } = await run('npm', ['pack', '--silent', '--pack-destination', directory], { cwd: root });
  return stdout.trim();
}

/**
 * Installs a tarball of the program into a directory, with the dependencies that this repository's lock file pins. npm
 * takes packages from its cache if possible, otherwise from the registry. Installing this repository fills the cache.
 */
export async function installProgram(directory: string, tarball: string): Promise<void> {
  const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as {
    packages: Record<string, LockedPackage>;
  };
  const required = Object.entries(lock.packages).filter(
    ([path, { dev, optional, devOptional }]) => path !== '' && !dev && !optional && !devOptional,
  );
  const dependencies = { almanac: `file:${tarball}` };
  const packages = {
    '': { dependencies },
    'node_modules/almanac': {
      ...lock.packages[''],
      devDependencies: undefined,
      optionalDependencies: undefined,
      resolved: `file:${tarball}`,
    },
    ...Object.fromEntries(required),
  };
  writeFileSync(join(directory, 'package.json'), JSON.stringify({ dependencies }));
  writeFileSync(join(directory, 'package-lock.json'), JSON.stringify({ lockfileVersion: 3, packages }));
  const options = [
    '--prefer-offline',
    '--omit=optional',
    '--ignore-scripts',
    '--no-audit',
    '--no-fund',
    '--loglevel=error',
  ];
  await run('npm', ['ci', ...options], { cwd: directory });
}
