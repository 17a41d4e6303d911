/** Compiles src/ and sim/ into dist/, and gathers the assets that third-party packages bring. */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const compiled = spawnSync(join(root, 'node_modules', '.bin', 'tsc'), ['-p', 'tsconfig.build.json'], {
  cwd: root,
  stdio: ['ignore', 2, 2],
});
if (compiled.status !== 0) process.exit(compiled.status ?? 1);

const vendor = join(root, 'assets', 'vendor', 'swagger-ui');
rmSync(vendor, { recursive: true, force: true });
mkdirSync(vendor, { recursive: true });
for (const file of ['swagger-ui-bundle.js', 'swagger-ui.css', 'LICENSE', 'NOTICE']) {
  cpSync(join(root, 'node_modules', 'swagger-ui-dist', file), join(vendor, file));
}
