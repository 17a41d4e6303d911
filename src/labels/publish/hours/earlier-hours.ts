import { open } from 'node:fs/promises';
import { decodeHours } from '../../../artifact/hours/hours.ts';
import { type LabelsHours, recogniseLabelsHours } from '../../../artifact/hours/labels-hours.ts';
import { systemCode } from '../../../ops/errors.ts';

/** Maximum size of the file without its labelers, in bytes. */
export const headBytes = 128 * 1024;
/** Start of the last field of the file. */
const labelersKey = '"labelers":[';

/**
 * Reads the file that an earlier process wrote, without its labelers, because parsing a complete file of four megabytes
 * would block the event loop for too long. Resolves with null if the file does not exist, cannot be read or is invalid.
 */
export async function readEarlierHours(path: string): Promise<LabelsHours | null> {
  const text = await readHead(path);
  const end = text.indexOf(labelersKey);
  if (end < 0) return null;
  const head = Buffer.from(`${text.slice(0, end + labelersKey.length)}]}`);
  const reading = decodeHours(head, recogniseLabelsHours);
  return reading.kind === 'readable' ? reading.artifact : null;
}

async function readHead(path: string): Promise<string> {
  try {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(headBytes), 0, headBytes, 0);
      return buffer.toString('utf8', 0, bytesRead);
    } finally {
      await file.close();
    }
  } catch (error) {
    if (systemCode(error) === null) throw error;
    return '';
  }
}
