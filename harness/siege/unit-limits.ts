import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const unitFile = join(import.meta.dirname, '../../deploy/systemd/almanac-labels.service');
const cgroups = '/sys/fs/cgroup';
/**
 * Heap size in megabytes that Node.js selects under a memory limit of 1 GiB. Without a cgroup, a flag sets the same
 * size.
 */
const heapMegabytesOfGigabyte = 560;

/** Limits that the unit of the label instrument sets. */
interface UnitLimits {
  readonly memoryBytes: number;
  readonly openFiles: number;
  readonly nodeOptions: string;
}

/** Reads the limits from the unit file that operators use. */
export function unitLimits(): UnitLimits {
  const unit = readFileSync(unitFile, 'utf8');
  const value = (pattern: RegExp): string => {
    const [, found] = pattern.exec(unit) ?? [];
    if (found === undefined) throw new Error(`${unitFile} has no match for ${pattern.source}`);
    return found;
  };
  const [amount = '', suffix = ''] = value(/^MemoryMax=(\d+[MG])$/m).match(/\d+|[MG]/g) ?? [];
  return {
    memoryBytes: Number(amount) * (suffix === 'G' ? 1024 ** 3 : 1024 ** 2),
    openFiles: Number(value(/^LimitNOFILE=(\d+)$/m)),
    nodeOptions: value(/^Environment=NODE_OPTIONS=(.*)$/m),
  };
}

/** Command line and options that start a program within the limits of its unit. */
export interface Enclosure {
  /** `cgroup`: the kernel limits the memory, as under systemd. `heap flag`: only the heap of the runtime is limited. */
  readonly memory: 'cgroup' | 'heap flag';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Removes the cgroup of the program. */
  release(): void;
}

/**
 * Wraps a command so that it runs under the unit's limits and uses only `nameServer`, as far as this user has
 * permission; root has permission for both. If `nameServer` is null, the command uses the machine's name server.
 */
export function enclose(argv: readonly string[], nameServer: { readonly resolvConf: string } | null): Enclosure {
  const limits = unitLimits();
  const group = memoryGroup(limits.memoryBytes);
  const steps = [
    group === null ? '' : `echo $$ > ${group.processes}`,
    `ulimit -n ${limits.openFiles}`,
    nameServer === null
      ? 'exec "$@"'
      : `exec unshare -m sh -c 'mount --bind ${nameServer.resolvConf} /etc/resolv.conf && exec "$@"' sh "$@"`,
  ];
  const heap = group === null ? ` --max-old-space-size=${heapMegabytesOfGigabyte}` : '';
  return {
    memory: group === null ? 'heap flag' : 'cgroup',
    command: 'sh',
    args: ['-c', steps.filter((step) => step !== '').join(' && '), 'sh', ...argv],
    env: { NODE_OPTIONS: `${limits.nodeOptions}${heap}` },
    release: () => group?.remove(),
  };
}

/** Returns true if this user can replace the name server of a process. */
export function canReplaceNameServer(): boolean {
  return spawnSync('unshare', ['-m', 'mount', '--bind', '/etc/hosts', '/etc/resolv.conf']).status === 0;
}

const groupName = /^almanac-siege-(\d+)-/;

/** Removes the cgroups that killed sieges left behind. */
function sweepGroups(): void {
  for (const folder of [join(cgroups, 'memory'), cgroups]) {
    if (!existsSync(folder)) continue;
    for (const name of readdirSync(folder)) {
      const [, pid] = groupName.exec(name) ?? [];
      if (pid === undefined || existsSync(`/proc/${pid}`)) continue;
      removeGroup(join(folder, name));
    }
  }
}

function removeGroup(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // Ignore errors: a process may still be exiting, and an empty cgroup costs nothing.
  }
}

let groups = 0;

/** Creates a cgroup with a memory limit. Returns null if this is not possible. */
function memoryGroup(bytes: number): { readonly processes: string; remove(): void } | null {
  groups += 1;
  sweepGroups();
  const name = `almanac-siege-${process.pid}-${groups}`;
  const isFirstVersion = existsSync(join(cgroups, 'memory', 'memory.limit_in_bytes'));
  const path = isFirstVersion ? join(cgroups, 'memory', name) : join(cgroups, name);
  const bound = join(path, isFirstVersion ? 'memory.limit_in_bytes' : 'memory.max');
  try {
    mkdirSync(path);
  } catch {
    return null;
  }
  const remove = (): void => removeGroup(path);
  try {
    // Check that the file exists: in an ordinary directory, the write would create it.
    if (!existsSync(bound)) throw new Error('the cgroup has no memory controller');
    writeFileSync(bound, String(bytes));
    return { processes: join(path, 'cgroup.procs'), remove };
  } catch {
    remove();
    return null;
  }
}
