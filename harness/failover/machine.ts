import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { until } from '../process/until.ts';

/** A machine in namespaces of its own: its network can be cut, and all of its processes can be killed or suspended. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  /** Directory with its files below their absolute paths. */
  readonly home: string;
  /** Starts it. Its disk has what an earlier run left. */
  start(): Promise<void>;
  /** Ends all of its processes at once, like a loss of power. */
  kill(): Promise<void>;
  /** Suspends all of its processes. */
  suspend(): void;
  resume(): void;
  /** Cuts it off from all others; no connection is ended. */
  cut(): void;
  mend(): void;
  /** Runs a command on it as a user, and returns its output. */
  run(user: string, command: readonly string[]): string;
}

/** Name of the network that connects the machines, and this process's address in it. */
const bridge = 'almanac0';
/** Address of the machine that runs this process. */
export const ownAddress = '192.0.2.1';

const script = fileURLToPath(new URL('./machine.sh', import.meta.url));

/** Creates the network of the machines, in the namespace of this process. */
export function createNetwork(): void {
  call('ip', ['link', 'set', 'lo', 'up']);
  call('ip', ['link', 'add', bridge, 'type', 'bridge']);
  call('ip', ['address', 'add', `${ownAddress}/24`, 'dev', bridge]);
  call('ip', ['link', 'set', bridge, 'up']);
}

/** Creates a machine, which does not run yet. */
export function createMachine(name: string, address: string, home: string): Machine {
  let process: ChildProcess | null = null;
  let first: number | null = null;

  function own(): number[] {
    if (first === null) return [];
    const namespace = readlinkSync(`/proc/${first}/ns/pid`);
    return readdirSync('/proc')
      .map(Number)
      .filter((pid) => Number.isInteger(pid) && namespaceOf(pid) === namespace);
  }

  return {
    name,
    address,
    home,
    async start() {
      const namespaces = ['--net', '--pid', '--mount', '--mount-proc', '--fork', '--kill-child=KILL'];
      const started = spawn('unshare', [...namespaces, 'sh', script, name, address, home], {
        stdio: ['pipe', 'inherit', 'inherit'],
      });
      process = started;
      const { pid } = started;
      if (pid === undefined) throw new Error('unshare did not start');
      await until(`the first process of ${name}`, () => childOf(pid) !== null);
      first = childOf(pid);
      call('ip', ['link', 'add', name, 'type', 'veth', 'peer', 'name', 'eth0', 'netns', String(pid)]);
      call('ip', ['link', 'set', name, 'master', bridge, 'up']);
      started.stdin.write('go\n');
    },
    async kill() {
      if (process === null) return;
      const ended = once(process, 'exit');
      const pids = own();
      process.kill('SIGKILL');
      await ended;
      process = first = null;
      await until(`the end of ${name}`, () => pids.every((pid) => namespaceOf(pid) === null));
      // The kernel removes the network of a machine some time after its last process.
      spawnSync('ip', ['link', 'delete', name], { stdio: 'ignore' });
    },
    suspend() {
      // A process may have started another one before it was suspended.
      for (let count = 0, last = -1; count !== last; ) {
        last = count;
        const pids = own();
        for (const pid of pids) signal(pid, 'SIGSTOP');
        count = pids.length;
      }
    },
    resume() {
      for (const pid of own()) signal(pid, 'SIGCONT');
    },
    cut: () => call('ip', ['link', 'set', name, 'down']),
    mend: () => call('ip', ['link', 'set', name, 'up']),
    run(user, command) {
      const enter = ['--target', String(first), '--net', '--pid', '--mount'];
      const as = [
        'setpriv',
        `--reuid=${user}`,
        `--regid=${user}`,
        '--clear-groups',
        'env',
        'PGBACKREST_LOCK_PATH=/run/postgresql/lock',
        ...command,
      ];
      return call('nsenter', [...enter, ...as]);
    },
  };
}

function childOf(pid: number): number | null {
  try {
    const [child] = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim().split(' ');
    return child ? Number(child) : null;
  } catch {
    return null;
  }
}

function namespaceOf(pid: number): string | null {
  try {
    return readlinkSync(`/proc/${pid}/ns/pid`);
  } catch {
    return null;
  }
}

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name);
  } catch {
    // It has ended.
  }
}

/** Runs a command to its end and returns its output. */
export function call(command: string, args: readonly string[], options: { readonly cwd?: string } = {}): string {
  const done = spawnSync(command, args, { encoding: 'utf8', cwd: '/', ...options });
  if (done.status !== 0) throw new Error(`${command} ${args.join(' ')} failed: ${done.stderr}${done.stdout}`);
  return done.stdout;
}
