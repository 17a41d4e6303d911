import { join } from 'node:path';
import type { Settings, Values } from '../../ops/setting.ts';
import { resolveSettingsAlone, type SettingSources } from '../../ops/settings.ts';
import { packageRoot } from '../command.ts';
import { userAgentFor } from '../contact-setting.ts';
import type { TriedHost } from '../doctor/tried-hosts.ts';
import { labelsSettings } from '../labels/labels-settings.ts';
import { configOf } from './observatory-parts.ts';

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
export function hostTries(
  values: { readonly contact: string | null; readonly jetstream: readonly string[] },
  { args, env, knownFlags }: SettingSources,
): () => Promise<readonly TriedHost[]> {
  const hosts: Values<typeof hostSettings> = resolveSettingsAlone(hostSettings, {
    args: configOf(args),
    env,
    knownFlags,
  });
  return async () => {
    try {
      // Load the modules on demand, because they are needed only if the network does not respond.
      const [{ checkUpstreams }, { readSeeds }] = await Promise.all([
        import('../doctor/upstreams.ts'),
        import('../../labels/roster/seeds.ts'),
      ]);
      const [did = ''] = await readSeeds(hosts.seeds ?? join(packageRoot(), 'assets', 'labelers.json'));
      const { jetstream } = values;
      const { tried } = await checkUpstreams(
        { jetstream, relays: hosts.relay, directories: hosts.plc, userAgent: userAgentFor(values), did, timeoutMs },
        { allowLoopback: hosts.allowLoopback },
        Date.now,
      );
      return tried;
    } catch {
      // Ignore an invalid seeds file or setting here, because it stops a part, which reports the error.
      return [];
    }
  };
}
