/**
 * Builds the container image with buildah, and runs it with podman as the container file requires: `npm run
 * test:container`. Needs root and Debian's `buildah podman crun catatonit`. `--base` builds a stand-in for the base
 * image from Debian's packages, for machines that cannot reach an image registry, and also needs `mmdebstrap`. `--state
 * DIR` keeps the images between runs, and `--runtime FILE` selects an OCI runtime. The build uses the certificate
 * authority in `NODE_EXTRA_CA_CERTS`, if set.
 *
 * crun refuses to run if both versions of cgroups are mounted. In that case, run the script under
 * `unshare -m sh -c 'mount -t cgroup2 none /sys/fs/cgroup && npm run test:container -- --base'`.
 */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { packageRoot } from '../src/main/command.ts';
import { buildBaseImage } from './container/base-image.ts';
import { checkImage, checkObservatory, checkSeparateProcesses } from './container/checks.ts';
import { Engine } from './container/engine.ts';

const { values } = parseArgs({
  options: {
    base: { type: 'boolean', default: false },
    state: { type: 'string' },
    runtime: { type: 'string' },
  },
});
const root = packageRoot();
const state = values.state ?? mkdtempSync(join(tmpdir(), 'almanac-container-'));
mkdirSync(state, { recursive: true });
const engine = new Engine(state, values.runtime);
const containerfile = join(root, 'deploy', 'container', 'Containerfile');

/**
 * Returns options that make the certificate authority in `NODE_EXTRA_CA_CERTS`, if set, available to npm during the
 * build only. Writes npm's configuration for this into the state directory.
 */
function authorityOptions(): string[] {
  const authority = process.env.NODE_EXTRA_CA_CERTS;
  if (authority === undefined) return [];
  const npmrc = join(state, 'npmrc');
  writeFileSync(npmrc, 'cafile=/run/authority.crt\n');
  return ['--volume', `${authority}:/run/authority.crt:ro`, '--volume', `${npmrc}:/root/.npmrc:ro`];
}

const [, baseImage = ''] = /^FROM (\S+) AS build$/m.exec(readFileSync(containerfile, 'utf8')) ?? [];
if (values.base && !engine.has(baseImage)) buildBaseImage(engine, root, state, baseImage);
const pull = values.base ? ['--pull=never'] : [];
engine.build(...pull, '--format', 'docker', ...authorityOptions(), '-f', containerfile, '-t', 'almanac', root);
const checks = [...checkImage(engine), ...(await checkObservatory(engine)), ...(await checkSeparateProcesses(engine))];
for (const { promise, isKept, found } of checks)
  console.log(`${isKept ? 'ok  ' : 'FAIL'} ${promise}${isKept ? '' : `: ${found}`}`);
if (values.state === undefined) rmSync(state, { recursive: true, force: true });
process.exitCode = checks.every(({ isKept }) => isKept) ? 0 : 1;
