import type { CopyEvent } from '../../store/copy/options.ts';

/** Minimum time between two progress lines, in milliseconds. */
const lineMs = 5_000;

/** Returns a callback that prints the progress of a copy. `now` is a monotonic clock in milliseconds. */
export function copyLines(print: (line: string) => void, now: () => number): (event: CopyEvent) => void {
  const started = now();
  let [total, before, copied, days] = [0, 0, 0, 0];
  let printed = started;

  function progress(): string {
    const done = before + copied;
    const all = Math.max(total, done);
    const rate = copied / Math.max(0.001, (now() - started) / 1000);
    const left = rate > 0 && all > done ? `, ${duration((all - done) / rate)} left` : '';
    return `copied ${done} of ${all} rows, ${days} days verified, ${Math.round(rate)} rows/s${left}`;
  }

  return (event) => {
    switch (event.kind) {
      case 'begun':
        [total, before] = [event.rows, event.copied];
        print(event.copied > 0 ? `resuming: ${event.copied} of ${event.rows} rows are copied` : `${event.rows} rows`);
        return;
      case 'copied':
        copied += event.rows;
        if (now() - printed < lineMs) return;
        printed = now();
        print(progress());
        return;
      case 'verified':
        days += 1;
        print(`${event.day}: ${event.rows} rows are equal, digest ${event.digest.slice(0, 16)}`);
        return;
      case 'again':
        print(`${event.day} is copied again, because some of its rows were removed`);
        return;
      case 'dropped':
        print(`${event.day} has expired and is not part of the copy`);
        return;
      case 'following':
        print(`${progress()}; every row is copied, and new rows follow until the instrument stops`);
        return;
      case 'retrying':
        print(`retrying: ${event.why}`);
    }
  };
}

function duration(seconds: number): string {
  if (seconds < 90) return `${Math.ceil(seconds)} s`;
  return seconds < 5_400 ? `${Math.ceil(seconds / 60)} min` : `${(seconds / 3600).toFixed(1)} h`;
}
