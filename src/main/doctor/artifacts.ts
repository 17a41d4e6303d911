import { join } from 'node:path';
import { artifactNames } from '../../artifact/write.ts';
import type { FreshnessBounds } from '../../facts/judge.ts';
import { OperatorError } from '../../ops/errors.ts';
import { readArtifact } from '../check/check-read.ts';
import { type Verdict, verdictOf } from '../check/check-verdict.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

/** Maximum age of an artifact whose writer is running, in seconds; a writer replaces it every minute. */
const oldSeconds = 300;

/** Checks both artifacts in a directory by the rules of the facts API. `now` is in milliseconds since 1970. */
export function checkArtifacts(folder: string, maxBytes: number, bounds: FreshnessBounds, now: number): Finding[] {
  return (['labels', 'weather'] as const).map((instrument) => {
    const check = `${instrument} artifact`;
    const path = join(folder, artifactNames[instrument]);
    try {
      const reading = readArtifact(path, maxBytes);
      const age = reading.kind === 'readable' ? (now - reading.modifiedAt) / 1000 : null;
      return judged(check, path, instrument, verdictOf(reading, bounds, now), age);
    } catch (error) {
      if (!(error instanceof OperatorError)) throw error;
      const todo = `its facts are refused until almanac ${instrument} writes it`;
      return error.message.includes('ENOENT')
        ? warn(check, `${path} does not exist yet`, todo)
        : fail(check, error.message, todo);
    }
  });
}

function judged(
  check: string,
  path: string,
  instrument: string,
  { verdict, state, reasons, instrument: owner }: Verdict,
  age: number | null,
): Finding {
  if (owner !== null && owner !== instrument) {
    return fail(check, `${path} is an artifact of ${owner}`, 'store each artifact under its own name');
  }
  if (state === 'held') return warn(check, `${path} is held`, 'almanac labels release ends the hold');
  if (verdict !== 'servable') {
    return fail(check, `${path} is refused: ${reasons.join(', ')}`, `check the log of almanac ${instrument}`);
  }
  if (age !== null && age > oldSeconds) {
    const found = `${path} was written ${Math.round(age)} s ago`;
    return warn(check, found, `almanac ${instrument} is not running, or cannot write it`);
  }
  return ok(check, `${path} is served${state === null ? '' : ` as ${state}`}`);
}

/**
 * Reports which of two configured Jetstream hosts the weather artifact describes. Returns no finding if there is only
 * one host, or if the artifact cannot be read as Almanac's weather summary.
 */
export function checkPublishedHost(folder: string, maxBytes: number, jetstream: readonly string[]): Finding[] {
  const [first, second] = jetstream.map(hostOf);
  if (first === undefined || second === undefined) return [];
  const check = 'weather host';
  const summary = readSummary(join(folder, artifactNames.weather), maxBytes);
  if (summary === null) return [];
  const published = hostOf(summary.source.endpoint);
  if (published === first) return [ok(check, `${first}, the first of two hosts, is published`)];
  if (published !== second)
    return [
      fail(check, `${published} is published, but is not configured`, 'restart almanac weather with --jetstream'),
    ];
  const [caveat = ''] = summary.caveats ?? [];
  const since = /published since (\S+)/.exec(caveat)?.[1];
  const found = `${second}, the second of two hosts, is published${since === undefined ? '' : ` since ${since}`}`;
  return [warn(check, found, 'the first host is published again after a day without trouble')];
}

function readSummary(path: string, maxBytes: number) {
  try {
    const reading = readArtifact(path, maxBytes);
    if (reading.kind !== 'readable' || reading.artifact.schema !== 'weather.summary.v1') return null;
    return reading.artifact.summary;
  } catch (error) {
    if (error instanceof OperatorError) return null;
    throw error;
  }
}

function hostOf(address: string): string {
  return URL.parse(address)?.host ?? address;
}
