import { join } from 'node:path';
import { errorFields } from '../ops/log.ts';
import type { Command } from './command.ts';
import { keepSamplesYoung } from './samples.ts';
import { factsOver, observatorySettings, runObservatory } from './up.ts';

/** `almanac demo`: the facts API over bundled samples, which say of themselves that they are samples. */
export const demoCommand: Command = {
  summary: 'the facts API over bundled sample artifacts, kept young and marked as samples',
  operands: '',
  settings: observatorySettings,
  run: (context) =>
    runObservatory('demo', context, async (values, log) => {
      const folder = join(values.data, 'demo', 'artifacts');
      const samples = await keepSamplesYoung(folder, Date.now, (error) =>
        log.error('the samples could not be refreshed', errorFields(error)),
      );
      const facts = await factsOver(folder, values, log);
      return {
        port: facts.port,
        async stop() {
          await facts.stop();
          await samples.stop();
        },
      };
    }),
};
