import type { Faults } from '../../sim/jetstream/faults.ts';
import { type Dice, dice } from '../../sim/random.ts';

/** A fault that is injected into one host. */
interface HostFault {
  readonly name: string;
  readonly act: (faults: Faults) => void;
}

/** Rare events for the fault `unknown`. None of them is a block, because the second host never sends blocks. */
const rareEvents = [
  ...['sync', 'unknown kind', 'null kind', 'no kind', 'unknown operation', 'no collection', 'collection is a number'],
  ...['empty collection', 'commit is a string', 'no commit', 'record null', 'record a list', 'embed without a type'],
  ...['delete with a record', 'identity', 'account throttled', 'account of unknown activity', 'untracked collection'],
];

/**
 * Faults after which each delivered event must be counted exactly once. `reorder_at_cutover` and `liar` have separate
 * tests, because their events count as late or as false.
 */
const hostFaults: readonly HostFault[] = [
  { name: 'drop at the end of a frame', act: (faults) => faults.drop({ how: 'end' }) },
  { name: 'drop by a reset', act: (faults) => faults.drop({ how: 'reset' }) },
  { name: 'drop within a frame', act: (faults) => faults.drop({ how: 'mid_frame' }) },
  { name: 'silent socket', act: (faults) => faults.silence() },
  { name: 'half-open socket', act: (faults) => faults.halfOpen() },
  { name: 'skipped time', act: (faults) => faults.skip({ seconds: 45 }) },
  { name: 'skipped numbers', act: (faults) => faults.skip({ events: 37 }) },
  { name: 'repeat', act: (faults) => faults.repeat({ events: 250 }) },
  { name: 'batches of one time', act: (faults) => faults.batchTime({ size: 7, seconds: 30 }) },
  { name: 'unreadable frames', act: (faults) => faults.malformed({ events: 40 }) },
  { name: 'unknown events', act: (faults) => faults.unknown({ events: 70, variants: rareEvents }) },
  { name: 'huge frame', act: (faults) => faults.huge({ bytes: 1_000_000 }) },
  { name: 're-sync', act: (faults) => faults.resync({ rows: 200 }) },
  { name: 'ConsumerTooSlow', act: (faults) => faults.tooSlow() },
  { name: 'going away', act: (faults) => faults.goingAway() },
  {
    name: 'refused handshakes',
    act: (faults) => {
      faults.refuse({ status: 503, times: 2 });
      faults.drop();
    },
  },
  {
    name: 'replay from before the cursor',
    act: (faults) => {
      // Replay less time than has passed since the last gap: the reader correctly ignores events that it missed before
      // its position.
      faults.replayEarlier({ seconds: 45 });
      faults.drop();
    },
  },
  {
    name: 'cursor that is too old',
    act: (faults) => {
      faults.refuse({ status: 503, times: 4 });
      faults.clampCursor({ seconds: 0 });
      faults.silence();
    },
  },
  {
    name: 'cursor in the future',
    act: (faults) => {
      faults.refuse({ status: 503, times: 4 });
      faults.futureCursor();
      faults.silence();
    },
  },
];

/** Returns all faults in an order that the seed determines. */
export function shuffledFaults(seed: number): readonly HostFault[] {
  const chance: Dice = dice(seed);
  return chance.shuffled(hostFaults);
}
