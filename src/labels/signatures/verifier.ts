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
  /** A key that was valid at the label's `cts` matches; the current one does not. */
  | 'verified_earlier_key'
  /** No key matches, or the signature is malformed. */
  | 'invalid'
  | 'unsigned'
  /** No key is available. */
  | 'unverified';

/** The keys of a labeler. */
export interface LabelerKeys {
  readonly current: readonly LabelKey[];
  /** Tried in order, each on labels whose `cts` is in its period. */
  readonly earlier: readonly EarlierLabelKey[];
}

/** Tolerated difference between the clocks of a labeler and of the directory: 5 minutes. */
const clockTolerance = 300_000_000;

/** Checks the signatures of labels, a bounded number at once. */
export interface Verifier {
  /**
   * Returns the verdicts on labels of one source, in order. Labels take turns in fair order of priority class, domain and
   * source, by the number of checks that each may need, so that neither a large batch nor many labelers of one owner delay
   * others. The callers bound the queue. Rejects with the signal's reason when aborted, or once stopped.
   */
  verify(
    labels: readonly ReceivedLabel[],
    keys: LabelerKeys,
    signal: AbortSignal,
    share?: ShareKey,
  ): Promise<Verdict[]>;
  /** Aborts all batches; resolves when no check is running. */
  stop(): Promise<void>;
}

/** Maximum earlier keys that one label is checked with. */
const maxEarlierChecks = 4;

/** Maximum checks on this thread before other tasks get a turn: about two milliseconds. */
const maxChecksPerTurn = 32;

/** Options of a verifier. */
export interface VerifierOptions {
  /** Maximum concurrent checks; libuv's pool has four threads. */
  readonly concurrency?: number;
  readonly check?: SignatureCheck;
  /** Called with the number of checks of a label of a source. */
  readonly onChecked?: (source: string, checks: number) => void;
}

/** Share that is charged if the caller names none. */
const anonymous: ShareKey = { priority: 'new', domain: '', source: '' };

/** Creates a verifier. */
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

  /** Passes the turn to the next label in fair order. */
  function done(): void {
    const next = turns.shift();
    if (next) next();
    else free += 1;
  }

  /** Gives sockets and timers a turn after a number of checks. */
  async function rest(): Promise<void> {
    sinceRest += 1;
    if (sinceRest < maxChecksPerTurn) return;
    sinceRest = 0;
    await setImmediate();
  }

  /** Checks a batch; each label waits for its own turn. */
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
    // Waits for all workers, so that no check of this batch runs after its failure.
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

/** Returns the earlier keys whose period includes an instant; at most `maxEarlierChecks`, since each may cost a check per label. */

function earlierKeysAt({ earlier }: LabelerKeys, authored: Micros | null): LabelKey[] {
  if (authored === null) return [];
  return earlier
    .filter(
      ({ from, until }) => (from === null || authored >= from - clockTolerance) && authored <= until + clockTolerance,
    )
    .slice(0, maxEarlierChecks)
    .map(({ key }) => key);
}
