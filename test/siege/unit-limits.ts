import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const unitFile = join(import.meta.dirname, '../../deploy/systemd/almanac-labels.service');
const cgroups = '/sys/fs/cgroup';
/** The share of a limit of 1 GiB that the runtime takes for its heap by itself; where no cgroup says so, a flag does. */
const heapMegabytesOfGigabyte = 560;

/** What the unit of the label instrument grants it. */
export interface UnitLimits {
  readonly memoryBytes: number;
  readonly openFiles: number;
  readonly nodeOptions: string;
}

/** Reads the limits of the unit that operators run. */
export function unitLimits(): UnitLimits {
  const unit = readFileSync(unitFile, 'utf8');
  const value = (pattern: RegExp): string => {
    const [, found] = pattern.exec(unit) ?? [];
    if (found === undefined) throw new Error(`${unitFile} has no ${pattern.source}`);
    return found;
  };
  const [amount = '', suffix = ''] = value(/^MemoryMax=(\d+[MG])$/m).match(/\d+|[MG]/g) ?? [];
  return {
    memoryBytes: Number(amount) * (suffix === 'G' ? 1024 ** 3 : 1024 ** 2),
    openFiles: Number(value(/^LimitNOFILE=(\d+)$/m)),
    nodeOptions: value(/^Environment=NODE_OPTIONS=(.*)$/m),
  };
}

/** How a program is started within the limits of its unit. */
export interface Enclosure {
  /** `cgroup`: the kernel bounds its memory as under systemd; `heap flag`: the runtime bounds its heap alone. */
  readonly memory: 'cgroup' | 'heap flag';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  /** Gives the cgroup back. */
  release(): void;
}

/**
 * Wraps a command so that it runs under the unit's limits and asks `nameServer` alone for names: both where this user
 * may do so, which root may. Null as `nameServer` leaves the machine's own.
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

/** Whether this user can give a process a name server of its own. */
export function canReplaceNameServer(): boolean {
  return spawnSync('unshare', ['-m', 'mount', '--bind', '/etc/hosts', '/etc/resolv.conf']).status === 0;
}

const groupName = /^almanac-siege-(\d+)-/;

/** Removes the groups of sieges that were killed. */
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
    // A process of it is not gone yet; an empty group costs nothing.
  }
}

let groups = 0;

/** A cgroup of its own with a bound on memory; null where there is none to be had. */
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
    // A file of that name means that the kernel takes it; in a plain folder it would be made.
    if (!existsSync(bound)) throw new Error('no memory controller');
    writeFileSync(bound, String(bytes));
    return { processes: join(path, 'cgroup.procs'), remove };
  } catch {
    remove();
    return null;
  }
}
