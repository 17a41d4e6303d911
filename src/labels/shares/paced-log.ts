import type { Log, LogFields } from '../../ops/log.ts';

/** Maximum number of lines of one message that are logged without a wait. */
const burst = 20;

/** Interval after which a further line of a message is allowed, in microseconds. */
const refillUs = 30_000_000;

/**
 * Limits the log lines that labelers cause: 20 lines of each message, then one line every 30 s with the number of
 * omitted lines. Without the limit a labeler could fill the disk with log lines. The number of messages is small,
 * because each is a constant. Lines of the levels `debug` and `error` are not limited, because labelers cannot cause
 * them.
 */
export function pacedLog(log: Log, monotonic: () => number): Log {
  const lines = new Map<string, { left: number; at: number; leftOut: number }>();

  function take(message: string): number | null {
    const now = monotonic();
    const line = lines.get(message) ?? { left: burst, at: now, leftOut: 0 };
    lines.set(message, line);
    line.left = Math.min(burst, line.left + (now - line.at) / refillUs);
    line.at = now;
    if (line.left < 1) {
      line.leftOut += 1;
      return null;
    }
    line.left -= 1;
    const { leftOut } = line;
    line.leftOut = 0;
    return leftOut;
  }

  function paced(write: (message: string, fields: LogFields) => void) {
    return (message: string, fields: LogFields = {}): void => {
      const leftOut = take(message);
      if (leftOut !== null) write(message, leftOut === 0 ? fields : { ...fields, left_out: leftOut });
    };
  }

  return {
    debug: (message, fields) => log.debug(message, fields),
    info: paced((message, fields) => log.info(message, fields)),
    warn: paced((message, fields) => log.warn(message, fields)),
    error: (message, fields) => log.error(message, fields),
    with: (fields) => pacedLog(log.with(fields), monotonic),
  };
}
