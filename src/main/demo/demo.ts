import { accountPaths } from '../../contract/account.ts';
import { silentLog } from '../../ops/log.ts';
import { optionalText } from '../../ops/setting.ts';
import { resolveSettingsAlone } from '../../ops/settings.ts';
import type { Command } from '../command.ts';
import { takeDemoFolder } from '../demo-folder.ts';
import { assertFree } from '../listen.ts';
import { type Running, serveUntilStopped } from '../serve.ts';
import { openLog, startObservatory } from '../up/observatory.ts';
import { type Extra, metricsPorts, observatoryParts, observatorySettings } from '../up/observatory-parts.ts';
import { showsScreen } from '../up/screen.ts';
import { type DemoNetwork, startDemoNetwork } from './demo-network.ts';

const demoSettings = {
  data: optionalText('data', 'DIR', 'data directory, emptied at each start; default: a temporary directory'),
  ...observatorySettings,
};

/** `almanac demo`: the observatory over a simulated network with a simulated history. */
export const demoCommand: Command = {
  summary: 'the observatory over a simulated network with a simulated history, marked as simulated everywhere',
  operands: '',
  settings: demoSettings,
  run({ args, env, knownFlags, print }) {
    const values = resolveSettingsAlone(demoSettings, { args, env, knownFlags });
    const screen = showsScreen(process.stdout.isTTY, env);
    return serveUntilStopped({
      metricsPort: null,
      collectMetrics: false,
      log: silentLog,
      start: async (_, asked) => {
        // Check the ports before the data of an earlier demo is deleted.
        await assertFree(values.host, { port: values.port, 'account-port': values.accountPort });
        for (let place = 0; values.metricsPort !== null && place < metricsPorts; place += 1) {
          await assertFree('127.0.0.1', { 'metrics-port': values.metricsPort + place });
        }
        const folder = await takeDemoFolder(values.data);
        const log = openLog('demo', values.logLevel, folder.path, screen);
        const started: Running[] = [];
        const stop = async (): Promise<void> => {
          for (const one of started.reverse()) await one.stop();
          log.close();
          folder.release();
        };
        try {
          print('almanac demo: simulating a network and its history; none of the data is real');
          const network = await startDemoNetwork(folder.path, values.logLevel, log.stderr, asked);
          started.push(network);
          started.push(
            await startObservatory({
              name: 'demo',
              data: folder.path,
              endpoints: [network.jetstream],
              // A simulated network has no external hosts to check.
              tryHosts: async () => [],
              parts: observatoryParts({ ...values, data: folder.path }, args, extraOf(network)),
              remarks: (urls) => [
                'SIMULATED: none of this data is real',
                ...['labelers', 'archive'].map((path) => `${path.padEnd(9)}${urls.get('facts') ?? ''}/${path}`),
                ...network.accounts.map(({ did, shows }) => `account  ${pageOf(did, urls.get('account'))}  ${shows}`),
              ],
              screen,
              print,
              log,
            }),
          );
          return { stop, failed: network.failed };
        } catch (error) {
          await stop();
          throw error;
        }
      },
    });
  },
};

/** Returns the URL of an account's page, or only its DID if the account part is not listening. */
function pageOf(did: string, url: string | undefined): string {
  return url === undefined ? did : `${url}${accountPaths.account}?did=${did}`;
}

/** Returns flags that make the parts observe the simulated network, regardless of variables and the config file. */
function extraOf({ jetstream, plc, relay, seeds, accounts, archive, archived }: DemoNetwork): Extra {
  const samples = accounts.flatMap(({ did, shows }) => ['--sample-account', `${did} ${shows}`]);
  return {
    ...{ archive, archiveFollows: archived },
    linksAccounts: true,
    facts: samples,
    account: ['--plc', plc, ...samples],
    weather: ['--jetstream', jetstream, '--allow-loopback', '--backfill-hours', '1', '--publish-seconds', '5'],
    labels: [
      ...['--jetstream', jetstream, '--allow-loopback', '--plc', plc, '--relay', relay, '--seeds', seeds],
      ...['--min-free-megabytes', '64', '--publish-seconds', '5'],
    ],
  };
}
