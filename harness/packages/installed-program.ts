import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { root } from '../process/imports.ts';

const run = promisify(execFile);

interface LockedPackage {
  readonly version?: string;
  readonly dependencies?: Readonly<Record<string, string>>;
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
