import { join } from 'node:path';
import { errorFields } from '../ops/log.ts';
import type { Command } from './command.ts';
import { keepSamplesYoung } from './samples.ts';
import { facts, observatorySettings, runObservatory } from './up.ts';

/** `almanac demo`: the facts API over bundled samples, which say of themselves that they are samples. */
export const demoCommand: Command = {
  summary: 'the facts API over bundled sample artifacts, kept young and marked as samples',
  operands: '',
  settings: observatorySettings,
  run: (context) =>
    runObservatory(
      'demo',
      context,
      (values) => [facts(samplesIn(values.data), values)],
      (values, log) =>
        keepSamplesYoung(samplesIn(values.data), Date.now, (error) =>
          log.error('the samples could not be refreshed', errorFields(error)),
        ),
    ),
};

/** Apart from the artifacts of a live observatory: a sample must never be taken for one. */
function samplesIn(data: string): string {
  return join(data, 'demo');
}
