import { onTestFinished } from 'vitest';
import type { Later } from '../process/once-in-file.ts';
import type { Program } from '../process/program.ts';
import { until } from '../process/until.ts';
import { fill, folderInTest, startAccount, writerInTest } from './account.ts';

/**
 * Creates a store with rows of two accounts and starts the account surface on this store. The surface runs until the
 * test has finished, or `later` ends it.
 */
export async function observed(count: number, args: readonly string[] = [], later: Later = onTestFinished) {
  const folder = folderInTest(later);
  const store = writerInTest(folder, (Date.now() - 60_000) * 1000, later);
  await fill(store, count, { at: (Date.now() - 30_000) * 1000 });
  await fill(store, 5, { at: (Date.now() - 30_000) * 1000, subject: 'did:plc:otherotherotherotherothe' });
  const program = startAccount(folder, args, {}, later);
  const { url, port } = await program.listening();
  return { folder, store, program, url, port };
}

/** Returns the metrics of a program, fetched from the port that the program logs. */
export async function metricsOf(program: Program): Promise<string> {
  const announcedPort = (): unknown => program.log().find(({ msg }) => msg === 'the metrics port is open')?.port;
  await until('the port of the metrics', () => announcedPort() !== undefined);
  return (await fetch(`http://127.0.0.1:${Number(announcedPort())}/metrics`)).text();
}
