import { waitForDistantHosts } from '../ops/process.ts';
import { exitWithCodeOf } from './command.ts';
import { runCommand } from './commands.ts';

/** Makes this process exit when its parent process, which also runs this program, ends. */
function endWithParent(): void {
  if (process.env.__ALMANAC_PARENT === undefined || !process.connected) return;
  delete process.env.__ALMANAC_PARENT;
  process.once('disconnect', () => process.kill(process.pid, 'SIGKILL'));
  process.channel?.unref();
}

/**
 * Makes this process continue without output once the reader of its stdout or stderr has exited. Otherwise a command
 * would print a stack trace if it is piped into a program such as `head`, and a service would stop together with the
 * program that reads its messages. Messages on stderr are not the result of a command, so any other error of stderr, such
 * as a full disk, is ignored as well.
 */
function continueWithoutReader(): void {
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error;
  });
  process.stderr.on('error', () => undefined);
}

endWithParent();
continueWithoutReader();
waitForDistantHosts();
exitWithCodeOf(runCommand(process.argv.slice(2)));
