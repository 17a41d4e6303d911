import { setImmediate } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import type { EarlierLabelKey } from '../../network/identity/audit-log.ts';
import type { LabelKey } from '../../network/identity/label-key.ts';
import { parseAuthored } from '../label/authored-time.ts';
import { type ReceivedLabel, separateSignature } from '../label/label-signature.ts';
import { FairQueue } from '../shares/fair-queue.ts';
import { priorityWeights, type ShareKey } from '../shares/shares.ts';
import { createSignatureCheck, type SignatureCheck } from './signature-check.ts';

/** Result of checking a label's signature. */
export type Verdict =
  | 'verified'
  /** A key that the labeler had at the label's `cts` made it; the current one did not. */
  | 'verified_earlier_key'
  /** None of the keys made it, or nothing could have. */
  | 'invalid'
  | 'unsigned'
  /** There is no key to check it with. */
  | 'unverified';

/** The keys of a labeler. */
export interface LabelerKeys {
  readonly current: readonly LabelKey[];
  /** Tried in their order, each on labels whose `cts` is in its period. */
  readonly earlier: readonly EarlierLabelKey[];
}

/** Clocks of a labeler and of the directory may differ by this much: 5 minutes. */
const clockTolerance = 300_000_000;

/** Checks the signatures of labels, a bounded number at once. */
export interface Verifier {
  /**
   * The verdicts on labels of one source, in their order. Labels take
   * turns in fair order of priority, domain and source, by how many checks each may need, so that neither a large batch
   * nor many of one owner hold up the others. A waiting batch holds nothing but what its caller gave; the queue is as long
   * as the callers make it. Rejects with the signal's reason when aborted, or once stopped.
   */
  verify(
    labels: readonly ReceivedLabel[],
    keys: LabelerKeys,
    signal: AbortSignal,
    share?: ShareKey,
  ): Promise<Verdict[]>;
  /** Ends what is under way; resolves when no check is running any more. */
  stop(): Promise<void>;
}

/** Earlier keys that one label is checked with. */
const maxEarlierChecks = 4;

/** Checks on this thread between two looks at what else there is to do: about two milliseconds of them. */
const checksInOneGo = 32;

/** Options of a verifier. */
export interface VerifierOptions {
  /** Checks at once, where they run on the threads of libuv's pool of four. */
  readonly concurrency?: number;
  readonly check?: SignatureCheck;
  /** Called with the number of checks that a label of a source took. */
  readonly onChecked?: (source: string, checks: number) => void;
}

/** Share that is charged if the caller names none. */
const anonymous: ShareKey = { priority: 'new', domain: '', source: '' };

/** Makes a verifier. */
export function createVerifier({
  concurrency = 2,
  check = createSignatureCheck(),
  onChecked = () => undefined,
}: VerifierOptions = {}): Verifier {
  const stopping = new AbortController();
  const turns = new FairQueue<() => void>(priorityWeights);
  const running = new Set<Promise<unknown>>();
  let free = concurrency;
  let sinceRest = 0;

  async function turn(share: ShareKey, cost: number): Promise<void> {
    if (free > 0) {
      free -= 1;
      return;
    }
    await new Promise<void>((resolve) => turns.push(share, resolve, cost));
  }

  /** Hands the turn to the next in fair order. */
  function done(): void {
    const next = turns.shift();
    if (next) next();
    else free += 1;
  }

  /** Lets sockets and timers have their turn, however many labels wait and however many keys each is checked with. */
  async function rest(): Promise<void> {
    sinceRest += 1;
    if (sinceRest < checksInOneGo) return;
    sinceRest = 0;
    await setImmediate();
  }

  /** Each label of a batch waits for a turn of its own. */
  async function verify(
    labels: readonly ReceivedLabel[],
    keys: LabelerKeys,
    signal: AbortSignal,
    share: ShareKey,
  ): Promise<Verdict[]> {
    const verdicts: Verdict[] = new Array<Verdict>(labels.length);
    const left = labels.entries();
    const work = async (): Promise<void> => {
      for (const [index, label] of left) {
        await turn(share, 1 + keys.current.length + Math.min(1, keys.earlier.length));
        let checks = 0;
        try {
          signal.throwIfAborted();
          stopping.signal.throwIfAborted();
          verdicts[index] = await judge(label, keys, async (signed, key) => {
            checks += 1;
            const valid = await check(signed, key);
            await rest();
            return valid;
          });
          await rest();
        } finally {
          onChecked(share.source, checks);
          done();
        }
      }
    };
    const workers = Array.from({ length: Math.min(concurrency, labels.length) }, work);
    // All of them, so that nothing of this batch runs on after it was given up.
    const [failed] = (await Promise.allSettled(workers)).filter(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return verdicts;
  }

  return {
    async verify(labels, keys, signal, share = anonymous) {
      const batch = verify(labels, keys, signal, share);
      running.add(batch);
      try {
        return await batch;
      } finally {
        running.delete(batch);
      }
    },
    async stop() {
      stopping.abort();
      await Promise.allSettled(running);
    },
  };
}

async function judge(label: ReceivedLabel, keys: LabelerKeys, check: SignatureCheck): Promise<Verdict> {
  const separated = separateSignature(label);
  if (separated.kind === 'unsigned') return 'unsigned';
  if (separated.kind === 'malformed') return 'invalid';
  if (keys.current.length + keys.earlier.length === 0) return 'unverified';
  const { plain, signature } = separated;
  const isMadeBy = async (key: LabelKey): Promise<boolean> =>
    (await check(separated, key)) || (plain !== null && (await check({ message: plain, signature }, key)));
  for (const key of keys.current) if (await isMadeBy(key)) return 'verified';
  for (const key of earlierKeysAt(keys, parseAuthored(label.cts))) {
    if (await isMadeBy(key)) return 'verified_earlier_key';
  }
  return 'invalid';
}

/** The earlier keys whose period includes an instant; at most `maxEarlierChecks`, as each costs every label that none made. */
function earlierKeysAt({ earlier }: LabelerKeys, authored: Micros | null): LabelKey[] {
  if (authored === null) return [];
  return earlier
    .filter(
      ({ from, until }) => (from === null || authored >= from - clockTolerance) && authored <= until + clockTolerance,
    )
    .slice(0, maxEarlierChecks)
    .map(({ key }) => key);
}
