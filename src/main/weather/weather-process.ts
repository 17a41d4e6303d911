import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { OperatorError, systemWords } from '../../ops/errors.ts';
import type { Log } from '../../ops/log.ts';
import type { Values } from '../../ops/setting.ts';
import { isZstdDictionary } from '../../weather/stream/dictionary.ts';
import type { WeatherTelemetry } from '../../weather/stream/telemetry.ts';
import { createWeather, type Weather } from '../../weather/weather.ts';
import { userAgentFor } from '../shared-settings.ts';
import type { weatherSettings } from './weather-settings.ts';

/** Starts the instrument. Rejects with OperatorError if a setting or the dictionary cannot be used. */
export async function startWeather(
  values: Values<typeof weatherSettings>,
  log: Log,
  telemetry: WeatherTelemetry,
): Promise<Weather> {
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
  return weather;
}

/** Maximum size of a dictionary file, in bytes. */
const maxDictionaryBytes = 16 * 1024 * 1024;

async function readDictionary(path: string): Promise<Buffer> {
  const refused = (why: string): OperatorError => new OperatorError(`cannot use the dictionary ${path}: ${why}`);
  const unreadable = (error: unknown): never => {
    throw refused(systemWords(error));
  };
  const file = await stat(path).catch(unreadable);
  if (!file.isFile() || file.size > maxDictionaryBytes) throw refused('not a file of at most 16 MiB');
  const bytes = await readFile(path).catch(unreadable);
  if (!isZstdDictionary(bytes)) throw refused('not a zstd dictionary');
  return bytes;
}
