import { readFile } from 'node:fs/promises';
import { canonicalDid, didInWords, isDid } from '../../contract/identifiers.ts';
import { isObject } from '../../input/json-budget.ts';
import { OperatorError, systemWords } from '../../ops/errors.ts';

/**
 * Returns the DIDs of a seeds file: a JSON array of objects with a `did`; other keys and repeated DIDs are ignored.
 * Throws an OperatorError if the file cannot be read or is invalid.
 */
export async function readSeeds(path: string): Promise<readonly string[]> {
  let text: string;
  try {
    text = await readFile(path, 'utf8');
  } catch (error) {
    throw new OperatorError(
      `cannot read the seeds file ${path}: ${systemWords(error)}; choose another file with --seeds`,
    );
  }
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new OperatorError(`the seeds file ${path} is not JSON`);
  }
  if (!Array.isArray(value)) throw new OperatorError(`the seeds file ${path} is not a JSON array of {"did"} objects`);
  const dids = value.map((entry, i) => {
    if (isObject(entry) && typeof entry.did === 'string' && isDid(entry.did)) return canonicalDid(entry.did);
    throw new OperatorError(
      `the "did" of entry ${i + 1} in the seeds file ${path} is not a DID: a DID is ${didInWords}`,
    );
  });
  return [...new Set(dids)];
}
