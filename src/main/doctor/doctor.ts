import { join } from 'node:path';
import type { Values } from '../../ops/setting.ts';
import { resolveSettingsAlone } from '../../ops/settings.ts';
import { type Command, packageRoot } from '../command.ts';
import { userAgentFor } from '../contact-setting.ts';
import { doctorSettings } from './doctor-settings.ts';
import { type Finding, type Level, line, worst } from './finding.ts';

/** Exit codes of `almanac doctor`: 1 also means an invalid setting. */
const exitCodes = { ok: 0, fail: 1, warn: 2 } as const satisfies Record<Level, number>;

/** `almanac doctor`: checks this machine's set-up and suggests what to do. */
export const doctorCommand: Command = {
  summary: "checks this machine's set-up: upstreams, clock, disk, stores, artifacts, ports",
  operands: '',
  settings: doctorSettings,
  exitCodes: [
    { code: exitCodes.ok, meaning: 'everything is ok' },
    { code: exitCodes.fail, meaning: 'something fails (fail), or a setting is invalid' },
    { code: exitCodes.warn, meaning: 'nothing fails, something needs attention (warn)' },
  ],
  async run({ args, env, knownFlags, print }) {
    const values = resolveSettingsAlone(doctorSettings, { args, env, knownFlags });
    const findings = await examine(values);
    const verdict = worst(findings);
    if (values.json) print(JSON.stringify({ verdict, findings }, null, 2));
    else for (const finding of findings) print(line(finding));
    // A pending name resolution cannot be cancelled and would delay the exit by half a minute.
    process.exit(exitCodes[verdict]);
  },
};

/** Runs all checks, the slow ones concurrently. Takes at most 10 s, even if nothing responds. */
async function examine(values: Values<typeof doctorSettings>): Promise<Finding[]> {
  // Loaded on demand: other commands do not need the store and the websocket.
  const [
    upstreams,
    { checkClock },
    { checkFolder, checkSpace },
    stores,
    { checkArtifacts },
    ports,
    { readsStore, servesArtifacts },
    { checkRuntime },
    seeds,
    { checkDenied },
    { checkProxyTrust },
    { checkContact },
  ] = await Promise.all([
    import('./upstreams.ts'),
    import('./clock.ts'),
    import('./disk.ts'),
    import('./stores.ts'),
    import('./artifacts.ts'),
    import('./ports.ts'),
    import('./whose.ts'),
    import('./runtime.ts'),
    import('../../labels/roster/seeds.ts'),
    import('./denied.ts'),
    import('./proxy-trust.ts'),
    import('./contact.ts'),
  ]);
  const { data, host, port, basePath, accountPort, metricsPort } = values;
  const artifacts = values.artifacts ?? join(data, 'artifacts');
  const storeUrl = values.store ?? `sqlite:${join(data, 'labels')}`;
  const [did = ''] = await seeds.readSeeds(values.seeds ?? join(packageRoot(), 'assets', 'labelers.json'));
  const asked = upstreams.checkUpstreams(
    {
      jetstream: values.jetstream,
      relays: values.relay,
      directories: values.plc,
      userAgent: userAgentFor(values),
      did,
    },
    { allowLoopback: values.allowLoopback },
    Date.now,
  );
  const store = stores.checkStore(storeUrl, Date.now());
  const factsAt = { host, port, flag: 'port', of: artifacts };
  const accountAt = { host, port: accountPort, flag: 'account-port', of: storeUrl };
  const listeners = Promise.all([
    ports.checkPort(
      ports.servicePort(
        'facts port',
        'almanac-facts',
        { ...factsAt, isOurs: servesArtifacts(artifacts, values.maxArtifactBytes, basePath) },
        basePath,
      ),
    ),
    ports.checkPort(
      ports.servicePort('account port', 'almanac-account', { ...accountAt, isOurs: readsStore(store.generation) }),
    ),
    ...(metricsPort === null
      ? []
      : ['facts', 'weather', 'labels', 'account'].map((part, i) =>
          ports.checkPort(ports.metricsPort(part, metricsPort + i)),
        )),
  ]);
  const here = [
    checkRuntime(),
    checkContact(values.contact),
    checkFolder('data directory', data),
    checkSpace(data, values.minFreeMegabytes * 1_000_000, store.bytes),
    ...store.findings,
    ...(await checkDenied(storeUrl)),
    stores.checkWeatherStore(data),
    ...checkArtifacts(
      artifacts,
      values.maxArtifactBytes,
      {
        maxAgeSeconds: values.maxAgeSeconds,
        collectionMaxAgeSeconds: values.collectionMaxAgeSeconds ?? values.maxAgeSeconds,
      },
      Date.now(),
    ),
  ];
  const trust = metricsPort === null ? null : await checkProxyTrust(metricsPort + 3);
  const { findings, offsets } = await asked;
  return [...here, ...(await listeners), ...(trust ? [trust] : []), ...findings, checkClock(offsets)];
}
