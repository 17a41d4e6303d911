import { hash } from 'node:crypto';
import { identityOf } from '../store/identity.ts';
import { isObject, readLabel } from './label-fields.ts';

/**
 * What tells one row of a labeler from another, also where it is no label that we could store: the identity of the
 * observation, or else of the value without its signature and row number. The same by stream and by poll, and after re-signing.
 */
export function fingerprint(value: unknown): string {
  const label = isObject(value) ? readLabel(value) : 'malformed';
  if (typeof label !== 'string') return identityOf(label).toString('hex');
  return hash('sha256', `almanac.row/1\n${stable(value, 0)}`, 'hex').slice(0, 32);
}

/** Deeper values than this are all one. */
const maxDepth = 8;

/** What is no part of a row: pages of a skyware labeler show its number, frames do not. */
const beside: ReadonlySet<string> = new Set(['sig', 'id']);

function stable(value: unknown, depth: number): string {
  if (typeof value !== 'object' || value === null || depth > maxDepth) {
    return typeof value === 'object' ? '{}' : (JSON.stringify(value) ?? 'null');
  }
  if (Array.isArray(value)) return `[${value.map((item) => stable(item, depth + 1)).join()}]`;
  const fields = Object.entries(value).filter(([name]) => depth > 0 || !beside.has(name));
  return `{${fields
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, field]) => `${JSON.stringify(name)}:${stable(field, depth + 1)}`)
    .join()}}`;
}
