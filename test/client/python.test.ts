import { execFile } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';

/** Runs the tests of the Python client, which has its own, against the real program. */

const client = join(root, 'clients', 'python');
const hasPython = (process.env.PATH ?? '').split(':').some((folder) => existsSync(join(folder, 'python3')));

function python(args: readonly string[], env: Readonly<Record<string, string>> = {}) {
  return new Promise<{ code: unknown; stdout: string; stderr: string }>((resolve) => {
    const options = { cwd: client, env: { PATH: process.env.PATH ?? '', PYTHONDONTWRITEBYTECODE: '1', ...env } };
    execFile('python3', args, options, (error, stdout, stderr) =>
      resolve({ code: error ? error.code : 0, stdout, stderr }),
    );
  });
}

describe.skipIf(!hasPython && process.env.CI === undefined)('the Python client', () => {
  it('passes its tests against the running service, and skips none', async () => {
    const folder = artifactFolderInTest();
    const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder]).listening();
    const { code, stderr } = await python(['-W', 'error', '-m', 'unittest'], {
      ALMANAC_URL: url,
      ALMANAC_ARTIFACTS: folder,
    });
    expect(stderr).toMatch(/\nRan (?:1[89]|[2-9]\d) tests in [\d.]+s\n\nOK\n$/);
    expect(code).toBe(0);
  });

  it('has only syntax that Python 3.9 knows, and imports only the standard library', async () => {
    const script = [
      'import ast, pathlib, sys',
      "for file in pathlib.Path('almanac_client').glob('*.py'):",
      "    for node in ast.walk(ast.parse(file.read_text('utf-8'), feature_version=(3, 9))):",
      '        names = [a.name for a in node.names] if isinstance(node, ast.Import) else []',
      '        names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []',
      "        print(*(name.split('.')[0] for name in names if name.split('.')[0] not in sys.stdlib_module_names), end='')",
    ].join('\n');
    expect(await python(['-c', script])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('has the version of the program', () => {
    const [, version] =
      /__version__ = "(.*)"/.exec(readFileSync(join(client, 'almanac_client', 'version.py'), 'utf8')) ?? [];
    expect(version).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
  });
});
