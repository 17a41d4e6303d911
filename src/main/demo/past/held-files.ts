import { isDay } from '../../../archive/days/calendar.ts';
import type { ArchiveFiles } from '../../../archive/files/archive-files.ts';

/** Files of an archive whose changes are held in memory. */
export interface HeldFiles extends ArchiveFiles {
  /** Writes the changed files, in the order in which they last changed, so that an index never names a missing file. */
  flush(): void;
}

/**
 * Returns archive files that are read and changed in memory until `flush`. This saves time: an archiver that archives
 * many hours in a row replaces the same files repeatedly, and each durable write would wait for the disk. The archive
 * must not contain any other files.
 */
export function heldFiles(files: ArchiveFiles): HeldFiles {
  const held = new Map<string, Buffer | null>();
  const changed = new Set<string>();
  const read = (path: string): Buffer | null => held.get(path) ?? null;
  const hold = (path: string, bytes: Buffer | null): void => {
    held.set(path, bytes);
    changed.delete(path);
    changed.add(path);
  };
  return {
    read,
    append: (path, line) => hold(path, Buffer.concat([read(path) ?? Buffer.alloc(0), line])),
    // Nothing needs repair, because no line in memory can be partially appended.
    repair: () => undefined,
    replace: (path, bytes) => hold(path, Buffer.from(bytes)),
    remove: (path) => hold(path, null),
    days: () => [...new Set([...held.keys()].map((path) => path.split('/')[1] ?? ''))].filter(isDay).sort(),
    flush() {
      for (const path of changed) {
        const bytes = read(path);
        if (bytes === null) files.remove(path);
        else files.replace(path, bytes);
      }
      changed.clear();
    },
  };
}
