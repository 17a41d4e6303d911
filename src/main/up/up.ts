import { silentLog } from '../../ops/log.ts';
import { optionalText, resolveSettings, type SettingSources, type Settings } from '../../ops/setting.ts';
import type { Command } from '../command.ts';
import { refuseDemoFolder } from '../demo-folder.ts';
import type { TriedHost } from '../doctor/finding.ts';
import { labelsSettings } from '../labels/labels-settings.ts';
import { serveUntilStopped } from '../serve.ts';
import { weatherSettings } from '../weather/weather-settings.ts';
import { openLog, startObservatory } from './observatory.ts';
import { configOf, dataSetting, observatoryParts, observatorySettings } from './observatory-parts.ts';
import { showsScreen } from './status.ts';

const upSettings = {
  data: dataSetting,
  jetstream: weatherSettings.jetstream,
  archive: optionalText(
    'archive',
    'DIR',
    'directory in which to archive what is published; default: nothing is archived',
  ),
  ...observatorySettings,
};

/** `almanac up`: runs the observatory against the live network. */
export const upCommand: Command<typeof upSettings> = {
  summary: 'the observatory against the live network: both instruments and both servers, each in its own process',
  operands: '',
  settings: upSettings,
  run(values, context) {
    const tryHosts = hostTries(values, context);
    const screen = showsScreen(process.stdout.isTTY, context.env);
    return serveUntilStopped({
      metricsPort: null,
      collectMetrics: false,
      log: silentLog,
      start: async () => {
        refuseDemoFolder(values.data);
        const log = openLog('up', values.logLevel, values.data, screen);
        const jetstream = values.jetstream.flatMap((host) => ['--jetstream', host]);
        const running = await startObservatory({
          name: 'up',
          data: values.data,
          endpoints: values.jetstream,
          tryHosts,
          parts: observatoryParts(values, context.args, {
            weather: jetstream,
            labels: jetstream,
            archive: values.archive,
          }),
          remarks: () => [],
          screen,
          print: context.print,
          log,
        });
        return {
          async stop() {
            await running.stop();
            log.close();
          },
        };
      },
    });
  },
};

/**
 * Timeout of each host, in milliseconds. It is short enough for the first start to report unresponsive hosts within 10
 * s.
 */
const timeoutMs = 3_000;

/** Settings of the label instrument that name hosts. The instrument's own process reads them from the same sources. */
const hostSettings = {
  relay: labelsSettings.relay,
  plc: labelsSettings.plc,
  seeds: labelsSettings.seeds,
  allowLoopback: labelsSettings.allowLoopback,
} satisfies Settings;

/**
 * Returns the function that contacts every host of both instruments once. The function resolves with an empty list if a
 * setting or the seeds file is invalid.
 */
function hostTries(
  values: { readonly contact: string | null; readonly jetstream: readonly string[] },
  { args, ...sources }: SettingSources,
): () => Promise<readonly TriedHost[]> {
  const { values: hosts } = resolveSettings(hostSettings, { args: configOf(args), ...sources });
  return async () => {
    try {
      // Load the module on demand, because it is needed only if the network does not respond.
      const { checkUpstreams } = await import('../doctor/upstreams.ts');
      const { tried } = await checkUpstreams({ ...hosts, ...values }, timeoutMs);
      return tried;
    } catch {
      // Ignore an invalid seeds file or setting here, because it stops a part, which reports the error.
      return [];
    }
  };
}
