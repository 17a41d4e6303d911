import { join } from 'node:path';
import { artifactNames } from '../../artifact/write.ts';
import { accountPaths } from '../../contract/account.ts';
import { paths } from '../../contract/identifiers.ts';
import { parseTimestamp } from '../../contract/timestamp.ts';
import { isObject } from '../../input/json-object.ts';
import { OperatorError } from '../../ops/errors.ts';
import { readArtifact } from '../check/check-read.ts';

/** Requests one path from the listener on a port. Resolves with null if there is no usable response. */
export type Ask = (path: string) => Promise<string | null>;

/**
 * Checks whether the Almanac that responds on a port uses the files of this set-up. Resolves with null if that cannot
 * be determined.
 */
export type IsOurs = (ask: Ask) => Promise<boolean | null>;

/** A DID that cannot exist, so that looking it up costs the store almost nothing. */
const absentAccount = 'did:web:nobody.invalid';

/** Creates a check that succeeds if the facts API reports the `generated_at` of an artifact in this directory. */
export function servesArtifacts(folder: string, maxBytes: number, base: string): IsOurs {
  return async (ask) => {
    const before = madeIn(folder, maxBytes);
    const reported = entriesIn(await ask(`${base}${paths.instruments}`));
    // Accept the artifact from before or after the request, because the artifact may be replaced during the request.
    const made = [...before, ...madeIn(folder, maxBytes)];
    const both = reported.filter((entry) => made.some(({ instrument }) => instrument === entry.instrument));
    if (both.length === 0) return null;
    return both.some((entry) => made.some(({ instrument, at }) => instrument === entry.instrument && at === entry.at));
  };
}

/** Creates a check that succeeds if the account-view service reports the epoch of this store. */
export function readsStore(generation: string | null): IsOurs {
  return async (ask) => {
    const reported = generationIn(
      await ask(`${accountPaths.exports}?${new URLSearchParams({ did: absentAccount, days: '7' })}`),
    );
    return generation === null || reported === null ? null : reported === generation;
  };
}

interface Made {
  readonly instrument: string;
  /** Generation time that the artifact states. */
  readonly at: number;
}

function madeIn(folder: string, maxBytes: number): Made[] {
  return (['labels', 'weather'] as const).flatMap((instrument) => {
    try {
      const reading = readArtifact(join(folder, artifactNames[instrument]), maxBytes);
      if (reading.kind !== 'readable') return [];
      const { artifact } = reading;
      return made(instrument, 'overview' in artifact ? artifact.overview.generated_at : artifact.summary.generated_at);
    } catch (error) {
      // Ignore the error here, because the check of the artifact reports it.
      if (error instanceof OperatorError) return [];
      throw error;
    }
  });
}

function entriesIn(body: string | null): Made[] {
  const index = objectIn(body);
  const entries: unknown[] = Array.isArray(index?.instruments) ? index.instruments : [];
  return entries.flatMap((entry) =>
    isObject(entry) && typeof entry.instrument === 'string' ? made(entry.instrument, entry.generated_at) : [],
  );
}

function made(instrument: string, generatedAt: unknown): Made[] {
  const at = parseTimestamp(generatedAt);
  return at === null ? [] : [{ instrument, at }];
}

function generationIn(body: string | null): string | null {
  const manifest = objectIn(body)?.manifest;
  const acquisition = isObject(manifest) ? manifest.acquisition : null;
  return isObject(acquisition) && typeof acquisition.generation_id === 'string' ? acquisition.generation_id : null;
}

/** Parses a body as one JSON object. Returns null for anything else. */
export function objectIn(body: string | null): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(body ?? '');
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
