import { pino } from 'pino';

/** Log levels, the most verbose first. */
export const logLevels = ['debug', 'info', 'warn', 'error', 'silent'] as const;
/** Name of a log level. */
export type LogLevel = (typeof logLevels)[number];

/** Keys that the logger writes itself. A second value under one of them would make the line ambiguous JSON. */
type ReservedField = 'level' | 'time' | 'name' | 'pid' | 'msg';

/** Fields of one log line. No field may contain a client address, the DID of an account, or the content of a record. */
export type LogFields = Readonly<Record<string, string | number | boolean | null | undefined>> & {
  readonly [key in ReservedField]?: never;
};

/** The operator's log: JSON lines on stderr. */
export interface Log {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  /** Returns a log that adds fields to every line. */
  with(fields: LogFields): Log;
}

/** Creates the log of a process, on stderr or another descriptor; `name` is the name of the command. */
export function createLog(name: string, level: LogLevel, fd = 2): Log {
  const logger = pino(
    {
      level,
      base: { name, pid: process.pid },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }) },
    },
    destinationOf(fd),
  );
  return wrap(logger);
}

/** Maximum number of bytes of lines that are kept while the log cannot be written. */
const maxUnwrittenBytes = 65_536;

/**
 * Returns the destination of a log. A failed write, as on a full disk, must not end the process. The lines are kept, up
 * to `maxUnwrittenBytes`, and written before the next line that can be written; further lines are dropped. A line longer than
 * `maxUnwrittenBytes` is dropped even if the log can be written.
 */
function destinationOf(fd: number): ReturnType<typeof pino.destination> {
  // Write synchronously, so that the last line before a crash is not lost.
  const destination = pino.destination({ fd, sync: true, maxLength: maxUnwrittenBytes });
  // A stream without a listener for errors throws them.
  destination.on('error', () => undefined);
  // The stream drops a line without an attempt to write the kept ones. Writing nothing makes that attempt.
  destination.on('drop', () => destination.write(''));
  return destination;
}

function wrap(logger: pino.Logger): Log {
  return {
    debug: (message, fields = {}) => logger.debug(fields, message),
    info: (message, fields = {}) => logger.info(fields, message),
    warn: (message, fields = {}) => logger.warn(fields, message),
    error: (message, fields = {}) => logger.error(fields, message),
    with: (fields) => wrap(logger.child(fields)),
  };
}

/** A log that discards every line. */
export const silentLog: Log = {
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
  with: () => silentLog,
};

/**
 * Returns an error's name, message and stack as log fields, which are for the operator only. A thrown value that is not
 * an Error has the name `unknown`.
 */
export function errorFields(error: unknown): LogFields {
  return error instanceof Error
    ? { error: error.name, why: error.message, stack: error.stack }
    : { error: 'unknown', why: String(error) };
}
