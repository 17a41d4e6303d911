import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rolldown } from 'rolldown';
import { writeClientPackage } from '../packages/client-package.ts';
import { temporaryFolder } from '../process/at-exit.ts';
import { root } from '../process/imports.ts';

/**
 * Bundles a page script that imports the installed client package and exposes the package as the global `almanac`.
 * Rejects if the bundler reports a warning, such as an unresolved import, or if the bundle is not a single file.
 */
export async function bundleClientForBrowser(): Promise<string> {
  const { folder: directory, remove } = temporaryFolder('client-bundle');
  try {
    writeClientPackage(root, join(directory, 'node_modules', 'almanac-client'));
    const input = join(directory, 'page.js');
    writeFileSync(input, "import * as client from 'almanac-client';\nglobalThis.almanac = client;\n");
    const onLog = (level: string, { message }: { message: string }): void => {
      if (level === 'warn') throw new Error(message);
    };
    const bundle = await rolldown({ input, platform: 'browser', onLog });
    const { output } = await bundle.generate({ format: 'esm', minify: true });
    await bundle.close();
    const [chunk, ...others] = output;
    if (others.length > 0 || chunk.imports.length > 0) throw new Error('the client bundle is not a single file');
    return chunk.code;
  } finally {
    remove();
  }
}
