import { replaceFile } from './write.ts';

/** Number of bytes in one write. Other work of the event loop runs between two writes. */
const bytesAtOnce = 256 * 1024;

/**
 * Replaces an artifact of JSON lines atomically, as `writeArtifact` does. The lines, without line feeds, are taken one by
 * one, so that memory does not grow with the file. Returns the number of written bytes.
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
