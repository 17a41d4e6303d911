import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { root } from '../../harness/process/imports.ts';

interface LockedPackage {
  readonly version?: string;
  readonly integrity?: string;
  readonly optional?: boolean;
  readonly hasInstallScript?: boolean;
}

function json(name: string): unknown {
  return JSON.parse(readFileSync(join(root, name), 'utf8'));
}

const { packages } = json('package-lock.json') as { packages: Readonly<Record<string, LockedPackage>> };
const manifest = json('package.json') as {
  readonly dependencies: Readonly<Record<string, string>>;
  readonly devDependencies: Readonly<Record<string, string>>;
  readonly optionalDependencies: Readonly<Record<string, string>>;
  readonly allowScripts: Readonly<Record<string, boolean>>;
};
const installed = Object.entries(packages).filter(([path]) => path !== '');

test('every dependency and the runtime are pinned to one version', () => {
  const { dependencies, devDependencies, optionalDependencies } = manifest;
  const asked = Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies });
  expect(asked.filter(([, version]) => !/^\d+\.\d+\.\d+(?:-r\.\d+)?$/.test(version))).toEqual([]);
  for (const [name, version] of asked) expect(packages[`node_modules/${name}`]?.version, name).toBe(version);
});

test('every installed package has a checksum', () => {
  expect(installed.filter(([, { integrity, optional }]) => integrity === undefined && !optional)).toEqual([]);
});

test('every package with an install script is listed, and its script is refused', () => {
  const running = installed.filter(([, { hasInstallScript }]) => hasInstallScript).map(([path]) => path);
  const refused = new Set(Object.keys(manifest.allowScripts));
  expect(Object.values(manifest.allowScripts).filter(Boolean)).toEqual([]);
  expect(running.filter((path) => !refused.has(path.replace(/^.*node_modules\//, '')))).toEqual([]);
});
