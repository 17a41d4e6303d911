import { replaceFile } from './write.ts';

/** Size of one write, in bytes. The event loop runs other tasks between two writes. */
const bytesAtOnce = 256 * 1024;

/**
 * Replaces a JSON Lines artifact atomically, as `writeArtifact` does. Takes the lines (without line feeds) one at a
 * time, so that memory does not grow with the file. Returns the number of bytes written.
 */
export async function writeLines(path: string, lines: Iterable<string> | AsyncIterable<string>): Promise<number> {
  let written = 0;
  await replaceFile(path, async (file) => {
    let part = '';
    const write = async (): Promise<void> => {
      const bytes = Buffer.from(part);
      part = '';
      written += bytes.byteLength;
      await file.appendFile(bytes);
    };
    for await (const line of lines) {
      part += `${line}\n`;
      if (part.length >= bytesAtOnce) await write();
    }
    await write();
  });
  return written;
}
