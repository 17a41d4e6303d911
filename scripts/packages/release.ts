import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { writeClientPackage } from '../../harness/packages/client-package.ts';
import { changelogSection } from './changelog.ts';
import { licencesFile, namesInLicences } from './licences.mjs';
import { type Sbom, shippedSbom } from './sbom.ts';

/** Development packages whose files the build copies into `assets/`. Currently the list is empty. */
const copiedPackages: readonly string[] = [];

/** Options for a release. */
interface ReleaseOptions {
  /** Directory of the repository, already built. */
  readonly root: string;
  /** Directory for the files of the release. It must be empty or missing. */
  readonly out: string;
  /** True to allow uncommitted changes and a changelog without a date. */
  readonly draft: boolean;
  /** True to build the wheel of the Python client, which requires pip and access to its package index. */
  readonly python: boolean;
}

/** Thrown if a release cannot be made. The message explains the reason to the operator. */
export class ReleaseError extends Error {
  override readonly name = 'ReleaseError';
}

/** Writes the files of a release and returns their names. Throws ReleaseError if the release cannot be made. */
export function writeRelease({ root, out, draft, python }: ReleaseOptions): string[] {
  const { name, version } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as Record<string, string>;
  if (name === undefined || version === undefined || !isSemVer(version)) {
    throw new ReleaseError('the version of package.json is not a semantic version');
  }
  const changes = changesOf(root, version, draft);
  if (!draft) requireCleanTree(root);
  mkdirSync(out, { recursive: true });
  if (readdirSync(out).length > 0) throw new ReleaseError(`${out} is not empty`);
  const work = mkdtempSync(join(tmpdir(), 'almanac-release-'));
  try {
    pack(root, out);
    writeClientPackage(root, join(work, 'client'));
    pack(join(work, 'client'), out);
    if (python) wheel(root, join(work, 'python'), out);
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
  writeFileSync(join(out, `${name}-${version}.cdx.json`), `${JSON.stringify(sbom(root, name), null, 2)}\n`);
  writeFileSync(join(out, `CHANGES-${version}.md`), changes);
  return [...writeChecksums(out), 'SHA256SUMS'];
}

function isSemVer(version: string): boolean {
  return /^(?:0|[1-9]\d*)(?:\.(?:0|[1-9]\d*)){2}(?:-[0-9A-Za-z.-]+)?(?:\+[0-9A-Za-z.-]+)?$/.test(version);
}

function changesOf(root: string, version: string, draft: boolean): string {
  const section = changelogSection(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'), version);
  if (section === null) throw new ReleaseError(`CHANGELOG.md has no section ${version}`);
  if (!draft && !/^\d{4}-\d{2}-\d{2}$/.test(section.note)) {
    throw new ReleaseError(`the heading of ${version} in CHANGELOG.md has no date: write "## ${version}, YYYY-MM-DD"`);
  }
  return section.text;
}

function requireCleanTree(root: string): void {
  if (execFileSync('git', ['status', '--porcelain'], { cwd: root, encoding: 'utf8' }) !== '') {
    throw new ReleaseError('the working tree has uncommitted changes');
  }
}

function pack(directory: string, out: string): void {
  execFileSync('npm', ['pack', '--silent', '--pack-destination', out], {
    cwd: directory,
    stdio: ['ignore', 'ignore', 2],
  });
}

function wheel(root: string, work: string, out: string): void {
  const source = join(root, 'clients', 'python');
  mkdirSync(work);
  for (const name of ['pyproject.toml', 'README.md']) copyFileSync(join(source, name), join(work, name));
  copyFileSync(join(root, 'LICENSE'), join(work, 'LICENSE'));
  cpSync(join(source, 'almanac_client'), join(work, 'almanac_client'), {
    recursive: true,
    filter: (path) => !path.endsWith('__pycache__'),
  });
  execFileSync('python3', ['-m', 'pip', 'wheel', '--quiet', '--no-deps', '--wheel-dir', out, work], {
    stdio: ['ignore', 2, 2],
  });
}

function sbom(root: string, name: string): Sbom {
  const options = ['--sbom-format', 'cyclonedx', '--sbom-type', 'application', '--package-lock-only', '--silent'];
  const text = execFileSync('npm', ['sbom', ...options], { cwd: root, encoding: 'utf8', maxBuffer: 64 * 1024 * 1024 });
  const bundled = namesInLicences(readFileSync(join(root, 'dist', licencesFile), 'utf8'));
  return shippedSbom(JSON.parse(text) as Sbom, name, [...copiedPackages, ...bundled]);
}

/** Writes `SHA256SUMS` in the format of `sha256sum`, and returns the names of the files listed in it. */
function writeChecksums(out: string): string[] {
  const names = readdirSync(out).sort();
  const lines = names.map((name) => {
    const digest = createHash('sha256')
      .update(readFileSync(join(out, name)))
      .digest('hex');
    return `${digest}  ${name}\n`;
  });
  writeFileSync(join(out, 'SHA256SUMS'), lines.join(''));
  return names;
}
