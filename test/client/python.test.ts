import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { artifactFolderInTest } from '../../harness/artifacts/artifacts.ts';
import { pythonClient, runPython, runsPython } from '../../harness/packages/python.ts';
import { root } from '../../harness/process/imports.ts';
import { startProgramInTest } from '../../harness/process/program-in-test.ts';

const libraryOnly = `
import ast, pathlib, sys
for file in pathlib.Path('almanac_client').glob('*.py'):
    for node in ast.walk(ast.parse(file.read_text('utf-8'), feature_version=(3, 9))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) and node.level == 0 else []
        print(*(name for name in names if name.split('.')[0] not in sys.stdlib_module_names), end='')
`;

describe.skipIf(!runsPython)('the Python client', () => {
  it('passes all its tests against the running service, without skipping any', async () => {
    const folder = artifactFolderInTest();
    const { url } = await startProgramInTest(['facts', '--port', '0', '--artifacts', folder]).listening();
    const service = { ALMANAC_URL: url, ALMANAC_ARTIFACTS: folder };
    const { code, stderr } = await runPython(['-W', 'error', '-m', 'unittest', 'tests.test_service'], service);
    expect(stderr).toMatch(/\nRan (?:9|1\d) tests in [\d.]+s\n\nOK\n$/);
    expect(code).toBe(0);
  });

  it('uses only syntax that Python 3.9 supports, and imports only the standard library', async () => {
    expect(await runPython(['-c', libraryOnly])).toEqual({ code: 0, stdout: '', stderr: '' });
  });

  it('has the same version as the program', () => {
    const [, version] =
      /__version__ = "(.*)"/.exec(readFileSync(join(pythonClient, 'almanac_client', 'version.py'), 'utf8')) ?? [];
    expect(version).toBe(JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).version);
  });
});
