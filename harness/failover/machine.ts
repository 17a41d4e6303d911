import { type ChildProcess, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { childrenOf } from '../process/process-tree.ts';
import { call } from '../process/program.ts';
import { until } from '../process/until.ts';

/** A machine in its own namespaces. Its network can be cut, and all its processes can be killed or suspended. */
export interface Machine {
  readonly name: string;
  readonly address: string;
  /** Directory that contains the machine's files under their absolute paths. */
  readonly home: string;
  /** Starts the machine. The machine's disk keeps the files of previous runs. */
  start(): Promise<void>;
  /** Kills all processes of the machine at once, as a power loss would. */
  kill(): Promise<void>;
  /** Suspends all processes of the machine. */
  suspend(): void;
  resume(): void;
  /** Disconnects the machine from all others without closing any connection. */
  cut(): void;
  mend(): void;
  /** Runs a command on the machine as the given user, and returns its output. */
  run(user: string, command: readonly string[]): string;
}

/** Name of the network bridge that connects the machines. */
const bridge = 'almanac0';
/** Address of this process in the network of the machines. */
const ownAddress = '192.0.2.1';

const script = fileURLToPath(new URL('./machine.sh', import.meta.url));

/** Creates the network of the machines in the namespace of this process. */
export function createNetwork(): void {
  call('ip', ['link', 'set', 'lo', 'up']);
  call('ip', ['link', 'add', bridge, 'type', 'bridge']);
  call('ip', ['address', 'add', `${ownAddress}/24`, 'dev', bridge]);
  call('ip', ['link', 'set', bridge, 'up']);
}

/** Creates a machine without starting it. */
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
      await until(`the first process of ${name} is running`, () => childrenOf(pid).length > 0);
      first = childrenOf(pid)[0] ?? null;
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
      await until(`all processes of ${name} have exited`, () => pids.every((pid) => namespaceOf(pid) === null));
      // Remove the network now: the kernel removes it only some time after the last process exits.
      spawnSync('ip', ['link', 'delete', name], { stdio: 'ignore' });
    },
    suspend() {
      // Repeat until the count is stable: a process may have started another one before it was suspended.
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
    // Ignore the error: the process has exited.
  }
}
