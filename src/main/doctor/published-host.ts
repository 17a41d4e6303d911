import { join } from 'node:path';
import { artifactNames } from '../../artifact/write.ts';
import { OperatorError } from '../../ops/errors.ts';
import { readArtifact } from '../check/check-read.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

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
