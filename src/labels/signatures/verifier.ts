import { setImmediate } from 'node:timers/promises';
import type { Micros } from '../../contract/timestamp.ts';
import type { EarlierLabelKey, LabelKey } from '../../network/identity/did-document.ts';
import { parseAuthored, type RawLabel, separateSignature } from '../label/label-fields.ts';
import { FairQueue, priorityWeights, type ShareKey } from '../shares/fair-queue.ts';
import { createSignatureCheck, type SignatureCheck } from './signature-check.ts';

/** Result of checking a label's signature. */
type Verdict =
  | 'verified'
  /** An earlier key that was valid at the label's `cts` matches, but the current key does not. */
  | 'verified_earlier_key'
  /** No key matches the signature, or the signature is malformed. */
  | 'invalid'
  | 'unsigned'
  /** No key of the labeler is available. The caller also takes `invalid` as this if the keys may be outdated. */
  | 'unverified';

/** Keys that are used to check the labels of one labeler. */
export interface LabelerKeys {
  readonly current: readonly LabelKey[];
  /** Earlier keys in the order in which they are tried. A key is only tried for labels whose `cts` is in its period. */
  readonly earlier: readonly EarlierLabelKey[];
}

/** Tolerated difference between the clocks of a labeler and of the directory, in microseconds. */
export const clockTolerance = 300_000_000;

/** Checks the signatures of labels and limits the number of concurrent checks. */
export interface Verifier {
  /**
   * Returns the verdicts on labels of one source, in order. Labels take turns in fair order of priority class, domain
   * and source, by the number of checks that each may need, so that neither a large batch nor many labelers of one
   * owner delay others. The callers bound the queue. Rejects with the signal's reason when aborted, or once stopped.
   */
  verify(labels: readonly RawLabel[], keys: LabelerKeys, signal: AbortSignal, share?: ShareKey): Promise<Verdict[]>;
  /** Aborts all batches; resolves when no check is running. */
  stop(): Promise<void>;
}

/** Maximum number of earlier keys that are tried for one label. */
const maxEarlierChecks = 4;

/** Maximum consecutive checks on this thread before other tasks run: about two milliseconds. */
const maxChecksPerTurn = 32;

/** Options for a verifier. */
interface VerifierOptions {
  /** Maximum concurrent checks; libuv's pool has four threads. */
  readonly concurrency?: number;
  readonly check?: SignatureCheck;
  /** Called with a source and the number of checks that one of its labels required. */
  readonly onChecked?: (source: string, checks: number) => void;
}

/** Share that is charged if the caller provides no share. */
const anonymous: ShareKey = { priority: 'new', domain: '', source: '' };

/** Creates a verifier. */
export function createVerifier({
  concurrency = 2,
  check = createSignatureCheck(),
  onChecked = () => undefined,
}: VerifierOptions = {}): Verifier {
  const stopping = new AbortController();
  const verify = createBatchCheck({ concurrency, check, onChecked, stopped: stopping.signal });
  const running = new Set<Promise<unknown>>();
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

/** Function that checks a batch of labels; each label waits for its own turn. */
type BatchCheck = (
  labels: readonly RawLabel[],
  keys: LabelerKeys,
  signal: AbortSignal,
  share: ShareKey,
) => Promise<Verdict[]>;

function createBatchCheck({
  concurrency,
  check,
  onChecked,
  stopped,
}: Required<VerifierOptions> & { readonly stopped: AbortSignal }): BatchCheck {
  const turns = createTurns(concurrency);
  const pause = createPauses();

  async function checkLabel(label: RawLabel, keys: LabelerKeys, share: ShareKey): Promise<Verdict> {
    let checks = 0;
    try {
      const verdict = await judge(label, keys, async (signed, key) => {
        checks += 1;
        const valid = await check(signed, key);
        await pause();
        return valid;
      });
      await pause();
      return verdict;
    } finally {
      onChecked(share.source, checks);
    }
  }

  return async (labels, keys, signal, share) => {
    const verdicts: Verdict[] = new Array<Verdict>(labels.length);
    const left = labels.entries();
    const work = async (): Promise<void> => {
      for (const [index, label] of left) {
        await turns.take(share, 1 + keys.current.length + Math.min(1, keys.earlier.length));
        try {
          signal.throwIfAborted();
          stopped.throwIfAborted();
          verdicts[index] = await checkLabel(label, keys, share);
        } finally {
          turns.release();
        }
      }
    };
    const workers = Array.from({ length: Math.min(concurrency, labels.length) }, work);
    // Await every worker, so that no check of this batch runs after the batch failed.
    const [failed] = (await Promise.allSettled(workers)).filter(({ status }) => status === 'rejected');
    if (failed?.status === 'rejected') throw failed.reason;
    return verdicts;
  };
}

/** Limits the number of labels that are checked concurrently, in fair order. */
interface Turns {
  /** Resolves once a label of this share, with this cost, may be checked. */
  take(share: ShareKey, cost: number): Promise<void>;
  /** Passes the turn to the next label in fair order. */
  release(): void;
}

function createTurns(concurrency: number): Turns {
  const waiting = new FairQueue<() => void>(priorityWeights);
  let free = concurrency;
  return {
    async take(share, cost) {
      if (free > 0) {
        free -= 1;
        return;
      }
      await new Promise<void>((resolve) => waiting.push(share, resolve, cost));
    },
    release() {
      const next = waiting.shift();
      if (next) next();
      else free += 1;
    },
  };
}

/**
 * Creates a function that must be called after each check. Every `maxChecksPerTurn` checks, the function lets sockets
 * and timers run.
 */
function createPauses(): () => Promise<void> {
  let checks = 0;
  return async () => {
    checks += 1;
    if (checks < maxChecksPerTurn) return;
    checks = 0;
    await setImmediate();
  };
}

async function judge(label: RawLabel, keys: LabelerKeys, check: SignatureCheck): Promise<Verdict> {
  const separated = separateSignature(label);
  if (separated.kind === 'unsigned') return 'unsigned';
  if (separated.kind === 'malformed') return 'invalid';
  if (keys.current.length + keys.earlier.length === 0) return 'unverified';
  const { message: received, others, signature } = separated;
  const isMadeBy = async (key: LabelKey): Promise<boolean> => {
    for (const message of [received, ...others]) if (await check({ message, signature }, key)) return true;
    return false;
  };
  for (const key of keys.current) if (await isMadeBy(key)) return 'verified';
  for (const key of earlierKeysAt(keys, parseAuthored(label.cts))) {
    if (await isMadeBy(key)) return 'verified_earlier_key';
  }
  return 'invalid';
}

/**
 * Returns the earlier keys whose period includes a label's authored time, but at most `maxEarlierChecks` keys, because
 * each key may cost a check per label. Returns no key for an undated label.
 */
function earlierKeysAt({ earlier }: LabelerKeys, authored: Micros | null): LabelKey[] {
  if (authored === null) return [];
  return earlier
    .filter(
      ({ from, until }) => (from === null || authored >= from - clockTolerance) && authored <= until + clockTolerance,
    )
    .slice(0, maxEarlierChecks)
    .map(({ key }) => key);
}
