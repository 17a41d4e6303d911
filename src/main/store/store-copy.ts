import { setTimeout as wait } from 'node:timers/promises';
import { changeDenyFile, requireDenyList } from '../../labels/operator/deny-file.ts';
import { OperatorError } from '../../ops/errors.ts';
import { copyStore } from '../../store/copy/copy-store.ts';
import { StoreError } from '../../store/errors.ts';
import { askWriterToStop, companionFolder, parseStoreUrl, storeProcesses } from '../../store/open.ts';
import { openCopySource, openCopyTarget } from '../../store/open-copy.ts';
import type { CommandContext } from '../command.ts';
import { copyLines } from './copy-lines.ts';

/** Interval between two looks at a source that an instrument writes, in milliseconds. */
const followMs = 1_000;
/** Exit code of `--once` while an instrument writes the source. */
export const stillWritten = 3;

/** Options for `almanac store copy`. */
export interface StoreCopyOptions {
  readonly from: string;
  readonly to: string;
  /** Directory of the denials of a store in a database. */
  readonly state: string;
  readonly once: boolean;
  readonly handOver: boolean;
}

/** Copies a store, prints the progress, and resolves with the exit code. */
export async function copyStores(options: StoreCopyOptions, print: CommandContext['print']): Promise<number> {
  const { from, to, state, once, handOver } = options;
  // The URLs are checked before a store is opened.
  parseStoreUrl(to);
  if (handOver && parseStoreUrl(from).kind === 'postgres') {
    throw new OperatorError('--hand-over stops an instrument on this machine: stop that of a database yourself');
  }
  try {
    const source = await openCopySource(from);
    try {
      const { epoch } = await source.look();
      const target = await openCopyTarget(to, epoch.generationId, Date.now() * 1000);
      try {
        const isComplete = await copyStore({
          ...{ source, target, once },
          report: copyLines(print, () => performance.now()),
          wait: () => wait(followMs),
          beforeComplete: () => copyDenials(companionFolder(from, state), companionFolder(to, state)),
          ...(handOver && { beforeFreeze: (attempts) => stopWriter(from, attempts, print) }),
        });
        if (!isComplete) {
          print('every row is copied, and the instrument still runs: stop it and repeat this command');
          return stillWritten;
        }
      } finally {
        await target.close();
      }
    } finally {
      await source.close();
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`the copy has not finished: ${error.message}`);
  }
  print(`${to} is complete and equal to ${from}, which no instrument can write any more`);
  print(`start almanac labels --store ${to}, and restart almanac account with it`);
  return 0;
}

/** Makes a store that was copied usable again. */
export async function reopenStore(url: string, print: CommandContext['print']): Promise<number> {
  try {
    const source = await openCopySource(url);
    try {
      if (!(await source.freeze())) throw new OperatorError('an instrument writes this store; nothing is to be done');
      const isReopened = await source.reopen();
      print(isReopened ? `${url} can be written again; never write its copy too` : `${url} was not moved`);
    } finally {
      await source.close();
    }
    return 0;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    throw new OperatorError(`cannot open the store ${url}: ${error.message}`);
  }
}

/** Copies the list of denied labelers to the directory that accompanies the copy. */
async function copyDenials(from: string, to: string): Promise<void> {
  if (from === to) return;
  const denied = await requireDenyList(from);
  if (denied.entries.length > 0) await changeDenyFile(to, () => denied);
}

/** Asks the instrument that writes the source to stop, once every row is copied. */
async function stopWriter(from: string, attempts: number, print: CommandContext['print']): Promise<void> {
  if (attempts > 0) return;
  const { writer, standby } = await storeProcesses(from);
  if (standby !== null)
    throw new OperatorError('the store has a standby, which would become its writer: stop it first');
  if (writer === null) return;
  print(`every row is copied: stops the instrument (${writer.name})`);
  if (!(await askWriterToStop(from, writer))) throw new OperatorError('the instrument cannot be identified: stop it');
  await wait(followMs);
}
