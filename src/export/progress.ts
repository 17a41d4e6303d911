/** Receives progress reports of a running export. */
export interface Progress {
  /** Reports the number of received rows, its upper bound, the number of the current part, and the number of parts. */
  rows(done: number, bound: number, part: number, parts: number): void;
  /** Reports that a request failed and is retried after a number of milliseconds. */
  waiting(why: string, milliseconds: number): void;
  /** Reports that the export expired and is restarted. */
  restarted(): void;
  /** Reports that the interval is too large for one export and is requested in parts. */
  narrowed(parts: number): void;
  /** Clears the progress line at the end of the export. */
  end(): void;
}

/** Output and clock of progress reports. */
interface ProgressOutput {
  readonly write: (text: string) => unknown;
  readonly terminal: boolean;
  /** Milliseconds since 1970. */
  readonly clock: () => number;
}

/** Minimum interval between row reports if the output is not a terminal, in milliseconds. */
const everyMs = 5_000;

/** Creates progress reports: one line that is rewritten on a terminal, and plain lines on other outputs. */
export function showProgress({ write, terminal, clock }: ProgressOutput): Progress {
  let toldAt = Number.NEGATIVE_INFINITY;
  let open = false;

  function line(text: string): void {
    if (open) write('\r\x1b[K');
    open = false;
    write(`almanac: ${text}\n`);
  }

  return {
    rows(done, bound, part, parts) {
      const text = `${number(done)} of at most ${number(bound)} rows${parts > 1 ? `, part ${part} of ${parts}` : ''}`;
      if (terminal) {
        write(`\r\x1b[K${text}`);
        open = true;
      } else if (clock() - toldAt >= everyMs) {
        toldAt = clock();
        line(text);
      }
    },
    waiting: (why, milliseconds) => line(`${why}; retrying in ${(milliseconds / 1000).toFixed(1)} s`),
    restarted: () => line('the export expired; restarting'),
    narrowed: (parts) =>
      line(`the interval has more rows than one export may contain; requesting ${number(parts)} parts`),
    end() {
      if (open) write('\r\x1b[K');
      open = false;
    },
  };
}

/** Formats a count with thousands separators. */
export function number(value: number): string {
  return value.toLocaleString('en-US');
}
