import { dayOf } from './calendar.ts';
import { archivedFacts, type FactName } from './facts.ts';
import { type ArchivedLine, parseLine } from './line.ts';

/**
 * Parses the file of one fact and day. Returns null if a line is incomplete or malformed, belongs to another day, or is
 * not later than the line before it.
 */
export function parseLines(text: string, name: FactName, day: string): ArchivedLine[] | null {
  if (text === '') return [];
  if (!text.endsWith('\n')) return null;
  const lines: ArchivedLine[] = [];
  for (const part of text.slice(0, -1).split('\n')) {
    const line = parseLine(part, archivedFacts[name]);
    const last = lines.at(-1);
    if (line === null || dayOf(Date.parse(line.hour)) !== day) return null;
    if (last && last.hour >= line.hour) return null;
    lines.push(line);
  }
  return lines;
}

/** Returns the error code of a response in which the facts API refuses a fact; null for any other response. */
export function refusalCode({ status, text }: { readonly status: number; readonly text: string }): string | null {
  if (status === 200) return null;
  try {
    const body: unknown = JSON.parse(text);
    const error = typeof body === 'object' && body !== null && 'error' in body ? body.error : null;
    const code = typeof error === 'object' && error !== null && 'code' in error ? error.code : null;
    return typeof code === 'string' ? code : null;
  } catch {
    return null;
  }
}

/** Returns true if the last response for the label overview states that the operator withholds it. */
export function isHeld(lines: readonly ArchivedLine[]): boolean {
  const last = lines.findLast((line) => line.kind === 'response');
  return last?.kind === 'response' && refusalCode(last) === 'source_held';
}
