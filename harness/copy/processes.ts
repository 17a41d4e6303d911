import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';

/** A running appender or copier process. */
interface CopyProcess {
  readonly child: ChildProcess;
  /** Resolves with the next line that contains `text`; null if the process exits first. */
  line(text: string): Promise<string | null>;
  /** Sends a signal. Resolves with the exit code once the process has exited. */
  end(signal: NodeJS.Signals): Promise<number | null>;
  /** Resolves with the exit code when the process has exited. */
  readonly ended: Promise<number | null>;
}

const scripts = {
  appender: new URL('./appender.ts', import.meta.url),
  copier: new URL('./copier.ts', import.meta.url),
};

/** Starts `appender.ts` or `copier.ts`. `watch` receives each line of output. */
export function startCopyProcess(
  name: keyof typeof scripts,
  args: readonly string[],
  watch: (line: string) => void = () => undefined,
): CopyProcess {
  const child = spawn(process.execPath, [fileURLToPath(scripts[name]), ...args], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const ended = once(child, 'exit').then(([code]) => (typeof code === 'number' ? code : null));
  const waiting = new Set<{ readonly text: string; readonly resolve: (line: string | null) => void }>();
  const lines = createInterface({ input: child.stdout });
  lines.on('line', (line) => {
    watch(line);
    for (const one of [...waiting]) {
      if (!line.includes(one.text)) continue;
      waiting.delete(one);
      one.resolve(line);
    }
  });
  lines.on('close', () => {
    for (const { resolve } of waiting) resolve(null);
  });
  return {
    ...{ child, ended },
    line: (text) => new Promise((resolve) => waiting.add({ text, resolve })),
    end: async (signal) => {
      child.kill(signal);
      return ended;
    },
  };
}
