import { isDay } from '../../src/archive/days/calendar.ts';
import type { ArchiveFiles } from '../../src/archive/files/archive-files.ts';
import type { KeptHead } from '../../src/archive/log/day-log.ts';
import type { ArchiveReader } from '../../src/archive/verify/archive-reader.ts';

/**
 * An archive in memory. Simulating several days takes thousands of durable writes, which would last minutes on a
 * disk.
 */
export interface MemoryArchive {
  /** Bytes of each file, by path below the archive directory. */
  readonly content: Map<string, Buffer>;
  readonly files: ArchiveFiles;
  readonly kept: KeptHead;
  readonly reader: ArchiveReader;
  /** Number of write operations so far. */
  writes(): number;
  /** Makes the operation with this number fail as `fault` describes. Later operations succeed. */
  failAt(operation: number, fault: WriteFault): void;
  /** Returns an independent copy without the planned fault. */
  copy(): MemoryArchive;
}

/**
 * An interrupted write. `effect` is the part that reaches the file before `error` is thrown: nothing, part of a line,
 * or everything.
 */
export interface WriteFault {
  readonly effect: 'nothing' | 'torn' | 'complete';
  readonly error: Error;
}

/** Returns the error that a write on a full disk causes. */
export function diskFull(): Error {
  return Object.assign(new Error('no space left on device'), { code: 'ENOSPC' });
}

/** Creates an archive in memory, empty by default. `signed` is the last signed checkpoint. */
export function memoryArchive(
  initial: ReadonlyMap<string, Buffer> = new Map(),
  signed: Buffer | null = null,
): MemoryArchive {
  const content = new Map(initial);
  let head = signed;
  let count = 0;
  let planned: { readonly operation: number; readonly fault: WriteFault } | null = null;
  const write = (complete: () => void, torn: () => void): void => {
    count += 1;
    const fault = planned?.operation === count ? planned.fault : null;
    if (fault?.effect === 'torn') torn();
    else if (fault?.effect !== 'nothing') complete();
    if (fault) throw fault.error;
  };
  const files: ArchiveFiles = {
    read: (path) => content.get(path) ?? null,
    append(path, line) {
      const whole = wholeLines(content.get(path) ?? Buffer.alloc(0));
      const half = line.subarray(0, Math.ceil(line.length / 2));
      write(
        () => content.set(path, Buffer.concat([whole, line])),
        () => content.set(path, Buffer.concat([whole, half])),
      );
    },
    repair(path) {
      const whole = wholeLines(content.get(path) ?? Buffer.alloc(0));
      if (whole.length > 0) content.set(path, whole);
      else content.delete(path);
    },
    replace(path, bytes) {
      write(
        () => content.set(path, Buffer.from(bytes)),
        () => undefined,
      );
    },
    remove(path) {
      write(
        () => content.delete(path),
        () => undefined,
      );
    },
    days: () => [...new Set([...content.keys()].map((path) => path.split('/')[1] ?? ''))].filter(isDay).sort(),
  };
  return {
    content,
    files,
    kept: {
      name: 'the kept checkpoint',
      read: () => head,
      write(note) {
        write(
          () => {
            head = note;
          },
          () => undefined,
        );
      },
    },
    reader: memoryReader(content),
    writes: () => count,
    failAt(operation, fault) {
      planned = { operation, fault };
    },
    copy: () => memoryArchive(content, head),
  };
}

/** Reads an archive from a map of its files. */
export function memoryReader(content: ReadonlyMap<string, Buffer>): ArchiveReader {
  return { read: (path) => Promise.resolve(content.get(path) ?? null) };
}

function wholeLines(bytes: Buffer): Buffer {
  return bytes.subarray(0, bytes.lastIndexOf(0x0a) + 1);
}
