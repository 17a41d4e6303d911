import { type ChildProcess, spawn } from 'node:child_process';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { root } from './imports.ts';

/** A running script of the harness. */
export interface Script {
  readonly child: ChildProcess;
  /** Resolves with the next unread line that contains `text`; null once the script has ended. */
  line(text?: string): Promise<string | null>;
  /** Resolves with the exit code or the signal's name once the script has ended and its output has been read. */
  readonly ended: Promise<number | string>;
  /** Sends a signal, and resolves as `ended` does. */
  end(signal: NodeJS.Signals): Promise<number | string>;
}

/** Starts a script below `harness`, such as `store/appender.ts`. `onLine` receives each line of output. */
export function startScript(
  path: string,
  args: readonly string[],
  onLine: (line: string) => void = () => undefined,
): Script {
  const child = spawn(process.execPath, [join(root, 'harness', path), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const unread: string[] = [];
  let isOver = false;
  let wake = (): void => undefined;
  createInterface({ input: child.stdout })
    .on('line', (line) => {
      onLine(line);
      unread.push(line);
      wake();
    })
    .on('close', () => {
      isOver = true;
      wake();
    });
  const ended = new Promise<number | string>((resolve, reject) => {
    child.once('error', reject).once('close', (code, signal) => resolve(code ?? signal ?? 'unknown'));
  });
  return {
    ...{ child, ended },
    async line(text = '') {
      for (;;) {
        const line = unread.shift();
        if (line?.includes(text)) return line;
        if (line === undefined && isOver) return null;
        if (line === undefined) {
          await new Promise<void>((resolve) => {
            wake = resolve;
          });
        }
      }
    },
    end(signal) {
      child.kill(signal);
      return ended;
    },
  };
}
