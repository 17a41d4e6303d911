import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { OperatorError, systemCode } from '../ops/errors.ts';

/** Marks a folder as a demo's: everything in it is simulated, and may be thrown away. */
const markName = 'SIMULATED.txt';
const mark = `Everything in this folder is simulated: it was made by \`almanac demo\`, which empties it at each start.\n`;

/** The folder of one demo. */
export interface DemoFolder {
  readonly path: string;
  /** Removes it where nobody asked for it by name. */
  release(): void;
}

/**
 * An empty, marked folder: a temporary one, or the named one, emptied of an earlier demo. Throws OperatorError when the
 * named one holds anything else.
 */
export function takeDemoFolder(named: string | null): DemoFolder {
  if (named === null) {
    const path = mkdtempSync(join(tmpdir(), 'almanac-demo-'));
    writeFileSync(join(path, markName), mark);
    return { path, release: () => rmSync(path, { recursive: true, force: true }) };
  }
  try {
    mkdirSync(named, { recursive: true });
    const entries = readdirSync(named);
    if (entries.length > 0 && !entries.includes(markName)) {
      throw new OperatorError(`${named} holds something that is no demo's; name another folder with --data, or none`);
    }
    // Marked before anything is in it, and unmarked last.
    for (const entry of entries.filter((name) => name !== markName)) rmSync(join(named, entry), { recursive: true });
    writeFileSync(join(named, markName), mark);
  } catch (error) {
    if (error instanceof OperatorError) throw error;
    throw new OperatorError(`cannot use the folder ${named} (${systemCode(error) ?? 'unknown error'})`);
  }
  return { path: named, release: () => undefined };
}

/** Throws OperatorError for a demo's folder: what is simulated is never taken for real. */
export function refuseDemoFolder(data: string): void {
  if (existsSync(join(data, markName))) {
    throw new OperatorError(`${data} holds a demo, and everything in it is simulated; name another folder with --data`);
  }
}
