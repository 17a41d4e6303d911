import type { Log, LogFields } from '../../ops/log.ts';

/** Lines of one message that may come at once, and how long each further one takes, in microseconds. */
const burst = 20;
const refillUs = 30_000_000;

/**
 * A log for what labelers cause: of one message a few lines, and then one every 30 s that says how many were left out. A
 * labeler that provokes a message without end would fill the disk by the log. Messages are constants, so there are few.
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
