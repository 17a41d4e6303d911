import { silentLog } from '../../ops/log.ts';
import { optionalText } from '../../ops/setting.ts';
import { resolveSettingsAlone } from '../../ops/settings.ts';
import type { Command } from '../command.ts';
import { refuseDemoFolder } from '../demo-folder.ts';
import { serveUntilStopped } from '../serve.ts';
import { weatherSettings } from '../weather/weather-settings.ts';
import { startObservatory } from './observatory.ts';
import { openLog } from './observatory-log.ts';
import { dataSetting, observatoryParts, observatorySettings } from './observatory-parts.ts';
import { showsScreen } from './screen.ts';
import { hostTries } from './try-hosts.ts';

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
export const upCommand: Command = {
  summary: 'the observatory against the live network: both instruments and both servers, each in its own process',
  operands: '',
  settings: upSettings,
  run({ args, env, knownFlags, print }) {
    const values = resolveSettingsAlone(upSettings, { args, env, knownFlags });
    const tryHosts = hostTries(values, { args, env, knownFlags });
    const screen = showsScreen(process.stdout.isTTY, env);
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
          parts: observatoryParts(values, args, { weather: jetstream, labels: jetstream, archive: values.archive }),
          remarks: () => [],
          screen,
          print,
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
