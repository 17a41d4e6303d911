import { execFileSync } from 'node:child_process';
import { basename, join } from 'node:path';

/** Compiles a C file into a shared library in a directory. Returns the path of the library. */
export function compileLibrary(source: string, directory: string): string {
  const library = join(directory, `${basename(source, '.c')}.so`);
  execFileSync('cc', ['-shared', '-fPIC', '-O1', '-Wall', '-Wextra', '-Werror', '-o', library, source, '-ldl']);
  return library;
}
