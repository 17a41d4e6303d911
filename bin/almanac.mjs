#!/usr/bin/env node
/**
 * Entry point. Runs on Node 20.20 and later: a version older than the program requires starts the package's pinned
 * runtime, and forwards signals and the exit code.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** First minor version of each release line in which zstd supports the dictionary of the compressed Jetstream. */
const firstMinors = new Map([
  [22, 19],
  [24, 6],
]);
const root = dirname(dirname(fileURLToPath(import.meta.url)));
const program = join(root, 'dist', 'almanac.js');
const readiness = join(root, 'scripts', 'ready.mjs');

if (!existsSync(program) && existsSync(readiness)) (await import(readiness)).ready();

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number);
if (major > 24 || minor >= (firstMinors.get(major) ?? Number.POSITIVE_INFINITY)) {
  await import(program);
} else {
  handOver(pinnedRuntime());
}

function pinnedRuntime() {
  const name = `node-${process.platform}-${process.arch}`;
  try {
    const folder = dirname(createRequire(import.meta.url).resolve(`${name}/package.json`));
    const runtime = join(folder, 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    if (existsSync(runtime)) return runtime;
  } catch {
    // The runtime is not installed for this platform; the message below states the remedy.
  }
  process.stderr.write(
    `almanac: needs Node 22.19 or later of Node 22, or Node 24.6 or later; this is ${process.versions.node}\n`,
  );
  process.exit(1);
}

function handOver(runtime) {
  const child = spawn(runtime, [fileURLToPath(import.meta.url), ...process.argv.slice(2)], {
    // The channel closes when this process is killed outright, and the program then ends itself.
    stdio: ['inherit', 'inherit', 'inherit', 'ipc'],
    env: { ...process.env, __ALMANAC_PARENT: '1' },
  });
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP']) {
    process.on(signal, () => child.kill(signal));
  }
  child.on('error', (error) => {
    process.stderr.write(`almanac: the pinned runtime did not start: ${error.message}\n`);
    process.exit(1);
  });
  child.on('exit', (code, signal) => {
    process.exit(code ?? 128 + (constants.signals[signal ?? 'SIGKILL'] ?? 9));
  });
}
