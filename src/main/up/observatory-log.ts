import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { OperatorError, systemWords } from '../../ops/errors.ts';
import { makeFolder } from '../../ops/folder.ts';
import { createLog, type Log, type LogLevel } from '../../ops/log.ts';

/** The log of an observatory and its parts. */
export interface ObservatoryLog {
  readonly log: Log;
  /** Destination of the parts' stderr: inherited, or the descriptor of the log file. */
  readonly stderr: 'inherit' | number;
  /** Path of the log file, or null if the log goes to stderr. */
  readonly file: string | null;
  /**
   * Returns the plain-text messages that the parts have written since the log was opened. Returns an empty list if the
   * log is not a file.
   */
  messages(): string[];
  close(): void;
}

/**
 * Opens the log: on stderr, or in a file of the data directory if the terminal shows a screen. Throws OperatorError if
 * the directory cannot be used.
 */
export function openLog(name: string, level: LogLevel, data: string, screen: boolean): ObservatoryLog {
  if (!screen || !process.stderr.isTTY) {
    return { log: createLog(name, level), stderr: 'inherit', file: null, messages: () => [], close: () => undefined };
  }
  const file = join(data, 'almanac.log');
  makeFolder(data);
  try {
    // Truncate the file at each start. An operator who needs a permanent log redirects stderr.
    const fd = openSync(file, 'w');
    const messages = (): string[] =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('almanac: '));
    return { log: createLog(name, level, fd), stderr: fd, file, messages, close: () => closeSync(fd) };
  } catch (error) {
    throw new OperatorError(`cannot write ${file}: ${systemWords(error)}`);
  }
}
