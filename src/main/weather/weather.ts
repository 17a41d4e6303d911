import { performance } from 'node:perf_hooks';
import { createLog } from '../../ops/log.ts';
import { noTelemetry } from '../../weather/stream/telemetry.ts';
import type { Command } from '../command.ts';
import { serveUntilStopped } from '../serve.ts';
import { reportingTelemetry, type WeatherReport } from './weather-report.ts';
import { weatherSettings } from './weather-settings.ts';

/** `almanac weather`: the weather instrument. */
export const weatherCommand: Command<typeof weatherSettings> = {
  summary: 'the weather instrument: observes a Jetstream host and writes weather-summary.json',
  operands: '',
  settings: weatherSettings,
  async run(values, { print }) {
    const log = createLog('weather', values.logLevel);
    return serveUntilStopped({
      metricsPort: values.metricsPort,
      log,
      start: async (registry) => {
        const metrics = registry ? (await import('./weather-metrics.ts')).weatherMetrics(registry) : noTelemetry;
        const send = parentChannel();
        const telemetry = send ? reportingTelemetry(metrics, send, () => performance.now()) : metrics;
        // Load this module on demand, because other commands need neither the store nor the websocket.
        const { startWeather } = await import('./weather-process.ts');
        const weather = await startWeather(values, log, telemetry);
        print('almanac weather observing');
        return weather;
      },
    });
  },
};

/** Returns the function that sends reports to the parent process, or null if there is no parent process. */
function parentChannel(): ((report: WeatherReport) => void) | null {
  if (process.send === undefined) return null;
  return (report) => {
    // Ignore errors, because the parent process may be exiting.
    if (process.connected) process.send?.(report, undefined, undefined, () => undefined);
  };
}
