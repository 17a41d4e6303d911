import { createLog } from '../../ops/log.ts';
import type { Command } from '../command.ts';
import { addressOf, serveUntilStopped } from '../serve.ts';
import { accountSettings } from './account-settings.ts';

/** `almanac account`: the account-view surface over a store. */
export const accountCommand: Command<typeof accountSettings> = {
  summary: 'the account-view surface over a store: observed labels on one account, and exports',
  operands: '',
  settings: accountSettings,
  async run(values, { print }) {
    // Load these modules on demand, because other commands do not need them.
    const { startAccount } = await import('./account-process.ts');
    const log = createLog('account', values.logLevel);
    return serveUntilStopped({
      metricsPort: values.metricsPort,
      log,
      start: async (registry, asked) => {
        const metrics = registry ? (await import('./account-metrics.ts')).accountMetrics(registry) : null;
        const running = await startAccount(values, log, metrics, asked);
        print(`almanac account listening on ${addressOf(values, running.port)}`);
        return running;
      },
    });
  },
};
