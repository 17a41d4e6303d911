/** Bounds of what is under way at once. */
export interface SlotLimits {
  readonly perHost: number;
  readonly total: number;
  /** How many may wait for a slot; further ones are turned away at once. */
  readonly maxWaiting: number;
}

/** Gives back a slot; calling it again does nothing. */
export type Release = () => void;

/** Grants slots in the order asked, but for those whose host is full: they do not hold up the others. */
export interface Slots {
  /** A slot, or why there is none: turned away, waited for too long, or given up. Never rejects. */
  acquire(host: string, waitMs: number, signal: AbortSignal): Promise<Release | 'busy' | 'aborted'>;
}

interface Waiting {
  readonly host: string;
  readonly grant: () => void;
}

/** Makes the slots of one client. */
export function createSlots({ perHost, total, maxWaiting }: SlotLimits): Slots {
  const taken = new Map<string, number>();
  let takenInAll = 0;
  const waiting = new Set<Waiting>();

  function free(host: string): boolean {
    return takenInAll < total && (taken.get(host) ?? 0) < perHost;
  }

  function take(host: string): Release {
    takenInAll += 1;
    taken.set(host, (taken.get(host) ?? 0) + 1);
    let given = false;
    return () => {
      if (given) return;
      given = true;
      giveBack(host);
    };
  }

  function giveBack(host: string): void {
    takenInAll -= 1;
    const left = (taken.get(host) ?? 1) - 1;
    if (left === 0) taken.delete(host);
    else taken.set(host, left);
    for (const next of waiting) {
      if (takenInAll >= total) return;
      if (free(next.host)) next.grant();
    }
  }

  return {
    async acquire(host, waitMs, signal) {
      if (signal.aborted) return 'aborted';
      if (free(host)) return take(host);
      if (waiting.size >= maxWaiting) return 'busy';
      return new Promise((resolve) => {
        const settle = (outcome: Release | 'busy' | 'aborted'): void => {
          waiting.delete(entry);
          clearTimeout(timer);
          signal.removeEventListener('abort', abort);
          resolve(outcome);
        };
        const abort = (): void => settle('aborted');
        const entry: Waiting = { host, grant: () => settle(take(host)) };
        const timer = setTimeout(() => settle('busy'), waitMs);
        signal.addEventListener('abort', abort, { once: true });
        waiting.add(entry);
      });
    },
  };
}
