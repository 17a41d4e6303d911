/**
 * Runs the hostile network in a separate process, so that its load does not slow down the honest network. The parent
 * process controls it through messages.
 */
import { kinds } from '../../sim/labelers/hostile/kinds/index.ts';
import { type HostileAddresses, HostileNetwork, type Met } from '../../sim/labelers/hostile/network.ts';
import { SigningKey } from '../../sim/labelers/signing-key.ts';

/** A command to the process that runs the hostile network. */
export type HostileCommand =
  | {
      readonly do: 'start';
      readonly seed: number;
      readonly count: number;
      /** Names of the kinds of hostile labelers. */
      readonly kinds: readonly string[];
      /** True if a name server resolves names below `.test`. */
      readonly names: boolean;
      /** Port of hosts with their own address. Hosts that share an address use the following ports. */
      readonly port: number;
      /** Share of labelers that become hostile only after the command `turn`. */
      readonly lateShare: number;
      readonly floodBytesPerSecond: number;
      readonly bystanders: readonly string[];
    }
  | { readonly do: 'attack' | 'turn' | 'end' | 'report' };

/** Responses of the process: one for each command, in order. */
export type HostileAnswer =
  | ({ readonly kind: 'started' } & HostileAddresses)
  | { readonly kind: 'done' }
  | { readonly kind: 'report'; readonly met: Readonly<Record<string, Met>>; readonly floodBytes: number }
  | { readonly kind: 'failed'; readonly why: string };

let network: HostileNetwork | null = null;

async function obey(command: HostileCommand): Promise<HostileAnswer> {
  if (command.do === 'start') {
    network = new HostileNetwork({
      ...command,
      kinds: kinds.filter(({ name }) => command.kinds.includes(name)),
      now: Date.now,
      multikey: await new SigningKey('k256', 'hostile').multikey(),
    });
    return { kind: 'started', ...(await network.start()) };
  }
  if (network === null) throw new Error('the hostile network is not started');
  switch (command.do) {
    case 'attack':
      network.attack();
      break;
    case 'turn':
      network.turn();
      break;
    case 'end':
      await network.end();
      break;
    case 'report':
      return { kind: 'report', met: Object.fromEntries(network.met), floodBytes: network.floods.bytes };
  }
  return { kind: 'done' };
}

let last: Promise<unknown> = Promise.resolve();
process.on('message', (command: HostileCommand) => {
  last = last
    .then(() => obey(command))
    .catch((error: unknown): HostileAnswer => ({ kind: 'failed', why: error instanceof Error ? error.message : '' }))
    .then((answer) => process.send?.(answer));
});
process.on('disconnect', () => process.exit(0));
