import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { performance } from 'node:perf_hooks';
import { OperatorError, systemWords } from '../../ops/errors.ts';
import { createLog } from '../../ops/log.ts';
import { resolveSettingsAlone } from '../../ops/setting.ts';
import { isZstdDictionary } from '../../weather/stream/dictionary.ts';
import { noTelemetry } from '../../weather/stream/telemetry.ts';
import type { Command } from '../command.ts';
import { serveUntilStopped } from '../serve.ts';
import { userAgentFor } from '../shared-settings.ts';
import { parentChannel, reportingTelemetry } from './weather-report.ts';
import { weatherSettings } from './weather-settings.ts';

/** Maximum size of a dictionary file, in bytes. */
const maxDictionaryBytes = 16 * 1024 * 1024;

async function readDictionary(path: string): Promise<Buffer> {
  const refused = (why: string): OperatorError => new OperatorError(`cannot use the dictionary ${path}: ${why}`);
  const file = await stat(path).catch((error: unknown) => {
    throw refused(systemWords(error));
  });
  if (!file.isFile() || file.size > maxDictionaryBytes) throw refused('not a file of at most 16 MiB');
  const bytes = await readFile(path);
  if (!isZstdDictionary(bytes)) throw refused('not a zstd dictionary');
  return bytes;
}

/** `almanac weather`: the weather instrument. */
export const weatherCommand: Command = {
  summary: 'the weather instrument: observes a Jetstream host and writes weather-summary.json',
  operands: '',
  settings: weatherSettings,
  async run({ args, env, knownFlags, print }) {
    const values = resolveSettingsAlone(weatherSettings, { args, env, knownFlags });
    const log = createLog('weather', values.logLevel);
    return serveUntilStopped({
      metricsPort: values.metricsPort,
      collectMetrics: values.metricsPort !== null,
      log,
      start: async (registry) => {
        const metrics = registry ? (await import('./weather-metrics.ts')).weatherMetrics(registry) : noTelemetry;
        const send = parentChannel();
        const telemetry = send ? reportingTelemetry(metrics, send, () => performance.now()) : metrics;
        // Load these modules on demand, because other commands need neither the store nor the websocket.
        const { createWeather } = await import('../../weather/weather.ts');
        const weather = createWeather({
          settings: {
            jetstream: values.jetstream,
            data: values.data,
            artifacts: values.artifacts ?? join(values.data, 'artifacts'),
            publishSeconds: values.publishSeconds,
            backfillHours: values.backfillHours,
            dictionary: values.jetstreamDictionary === null ? null : await readDictionary(values.jetstreamDictionary),
            compress: values.jetstreamCompress,
            backfillBytes: values.backfillMegabytes * 1_000_000,
          },
          policy: { allowLoopback: values.allowLoopback },
          userAgent: userAgentFor(values),
          clock: Date.now,
          random: Math.random,
          log,
          telemetry,
        });
        await weather.start();
        print('almanac weather observing');
        return weather;
      },
    });
  },
};
