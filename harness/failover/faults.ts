import type { StoreProcesses } from '../../src/store/standby/standby.ts';
import type { Cluster } from './cluster.ts';
import type { KeptProcess } from './kept-process.ts';
import type { Machine } from './machine.ts';

/** Parts of the system. One part fails in each round. */
const parts = ['primary', 'sync_standby', 'replica', 'writer', 'standby', 'account'] as const;
type Part = (typeof parts)[number];

/** Ways in which a part fails: all its processes are killed, suspended, or cut off from the network. */
const ways = ['kill', 'stop', 'cut'] as const;
type Way = (typeof ways)[number];

/** The fault of a round: the part that fails and how it fails. */
export interface Fault {
  readonly part: Part;
  readonly way: Way;
}

/**
 * Faults in the order of the rounds. The first ten rounds cover every part, and every kind of failure of the primary
 * and the writer.
 */
export const plan: readonly Fault[] = [
  { part: 'primary', way: 'kill' },
  { part: 'writer', way: 'cut' },
  { part: 'primary', way: 'cut' },
  { part: 'sync_standby', way: 'kill' },
  { part: 'writer', way: 'kill' },
  { part: 'primary', way: 'stop' },
  { part: 'replica', way: 'cut' },
  { part: 'standby', way: 'stop' },
  { part: 'account', way: 'cut' },
  { part: 'writer', way: 'stop' },
  { part: 'sync_standby', way: 'cut' },
  { part: 'standby', way: 'kill' },
  { part: 'replica', way: 'stop' },
  { part: 'account', way: 'kill' },
  { part: 'sync_standby', way: 'stop' },
  { part: 'standby', way: 'cut' },
  { part: 'replica', way: 'kill' },
  { part: 'account', way: 'stop' },
];

/** A fault in progress. */
interface Injected {
  /** Name of the affected machine or process. */
  readonly target: string;
  /**
   * Ends the fault: starts the machine, resumes the processes, or reconnects the network. Has no effect on a killed
   * process, which restarts by itself.
   */
  heal(): Promise<void>;
}

/** Processes that a fault can affect. */
interface Processes {
  readonly instruments: readonly KeptProcess[];
  readonly accounts: readonly KeptProcess[];
}

/**
 * Makes a part fail, and returns the fault with a function that ends it. Throws if no machine or process has the role.
 */
export async function inject(
  { part, way }: Fault,
  cluster: Cluster,
  processes: Processes,
  roles: () => Promise<StoreProcesses>,
): Promise<Injected> {
  if (part === 'primary' || part === 'sync_standby' || part === 'replica') {
    const machine = await cluster.machine(part === 'primary' ? 'leader' : part);
    if (machine === null) throw new Error(`no machine has the role ${part}`);
    return onMachine(machine, way);
  }
  const { writer, standby } = await roles();
  const name = part === 'writer' ? writer?.name : standby?.name;
  const target =
    part === 'account' ? processes.accounts[0] : processes.instruments.find(({ pid }) => name?.endsWith(`pid ${pid}`));
  if (!target) throw new Error(`no process has the role ${part}: ${name ?? 'none'}`);
  return onProcess(target, way);
}

async function onMachine(machine: Machine, way: Way): Promise<Injected> {
  const target = machine.name;
  if (way === 'kill') {
    await machine.kill();
    return { target, heal: () => machine.start() };
  }
  if (way === 'stop') {
    machine.suspend();
    return { target, heal: () => Promise.resolve(machine.resume()) };
  }
  machine.cut();
  return { target, heal: () => Promise.resolve(machine.mend()) };
}

function onProcess(process: KeptProcess, way: Way): Injected {
  const target = process.name;
  if (way === 'kill') {
    process.signal('SIGKILL');
    // Do nothing: the process is restarted automatically.
    return { target, heal: () => Promise.resolve() };
  }
  if (way === 'stop') {
    const { pid } = process;
    process.signal('SIGSTOP');
    return { target, heal: () => Promise.resolve(pid === process.pid ? process.signal('SIGCONT') : undefined) };
  }
  process.link.cut();
  return { target, heal: () => Promise.resolve(process.link.mend()) };
}
