import { execFileSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { root } from '../../harness/process/imports.ts';
import { licencesFile, namesInLicences } from '../../scripts/packages/licences.mjs';
import { ReleaseError, writeRelease } from '../../scripts/packages/release.ts';
import type { Sbom } from '../../scripts/packages/sbom.ts';

const { version, dependencies } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
  version: string;
  dependencies: Record<string, string>;
};

describe('the files of a release', () => {
  let out = '';

  beforeAll(() => {
    out = mkdtempSync(join(tmpdir(), 'almanac-release-test-'));
    // Leave out the wheel, because pip would download its build tool from a package index.
    writeRelease({ root, out, draft: true, python: false });
  });
  afterAll(() => rmSync(out, { recursive: true, force: true }));

  it('are exactly those that docs/releasing.md lists', () => {
    const page = readFileSync(join(root, 'docs', 'releasing.md'), 'utf8');
    const listed = [...page.matchAll(/^\| `(\S+)` /gm)].map(([, name = '']) => name.replace('VERSION', version));
    const isWheel = (name: string): boolean => name.endsWith('.whl');
    expect(listed.filter(isWheel)).toHaveLength(1);
    expect(readdirSync(out).sort()).toEqual(listed.filter((name) => !isWheel(name)).sort());
  });

  it('include checksums of all other files, which sha256sum accepts', () => {
    const output = execFileSync('sha256sum', ['--check', '--strict', 'SHA256SUMS'], { cwd: out, encoding: 'utf8' });
    const checked = output
      .trimEnd()
      .split('\n')
      .map((line) => line.replace(/: OK$/, ''));
    expect([...checked, 'SHA256SUMS'].sort()).toEqual(readdirSync(out).sort());
  });

  it('include an SBOM of the packages that the program contains, without development tools', () => {
    const text = readFileSync(join(out, `almanac-${version}.cdx.json`), 'utf8');
    const { metadata, components } = JSON.parse(text) as Sbom;
    expect(JSON.parse(text)).toMatchObject({ bomFormat: 'CycloneDX', specVersion: expect.stringMatching(/^1\.\d$/) });
    expect(metadata.component).toMatchObject({ name: 'almanac', version });
    const names = components.map(({ name }) => name);
    const bundled = namesInLicences(readFileSync(join(root, 'dist', licencesFile), 'utf8'));
    expect([...Object.keys(dependencies), ...bundled].filter((name) => !names.includes(name))).toEqual([]);
    expect(names.filter((name) => ['vitest', 'typescript', 'publint'].includes(name))).toEqual([]);
    expect(text).not.toContain(root);
  });

  it('include the section of the version in the changelog', () => {
    expect(readFileSync(join(out, `CHANGES-${version}.md`), 'utf8')).toMatch(new RegExp(`^## ${version}[,\\n]`));
  });

  it('are not written into a directory that contains files', () => {
    const before = readdirSync(out);
    expect(() => writeRelease({ root, out, draft: true, python: false })).toThrow(ReleaseError);
    expect(readdirSync(out)).toEqual(before);
  });

  it('are refused for a version to which the changelog gives no date', () => {
    const repository = mkdtempSync(join(tmpdir(), 'almanac-release-root-'));
    try {
      writeFileSync(join(repository, 'package.json'), JSON.stringify({ name: 'almanac', version: '1.2.3' }));
      writeFileSync(join(repository, 'CHANGELOG.md'), '# Changelog\n\n## 1.2.3, not yet released\n');
      const options = { root: repository, out: join(repository, 'out'), draft: false, python: false };
      expect(() => writeRelease(options)).toThrow('the heading of 1.2.3 in CHANGELOG.md has no date');
      writeFileSync(join(repository, 'package.json'), JSON.stringify({ name: 'almanac', version: '1.2' }));
      expect(() => writeRelease(options)).toThrow('not a semantic version');
      writeFileSync(join(repository, 'package.json'), JSON.stringify({ name: 'almanac', version: '1.2.4' }));
      expect(() => writeRelease(options)).toThrow('CHANGELOG.md has no section 1.2.4');
    } finally {
      rmSync(repository, { recursive: true });
    }
  });

  it('are refused for a working tree with uncommitted changes', () => {
    const repository = mkdtempSync(join(tmpdir(), 'almanac-release-root-'));
    try {
      execFileSync('git', ['init', '--quiet'], { cwd: repository });
      writeFileSync(join(repository, 'package.json'), JSON.stringify({ name: 'almanac', version: '1.2.3' }));
      writeFileSync(join(repository, 'CHANGELOG.md'), '# Changelog\n\n## 1.2.3, 2026-11-22\n');
      const options = { root: repository, out: join(repository, 'out'), draft: false, python: false };
      expect(() => writeRelease(options)).toThrow('the working tree has uncommitted changes');
    } finally {
      rmSync(repository, { recursive: true });
    }
  });
});
