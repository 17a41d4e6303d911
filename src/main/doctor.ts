import { join } from 'node:path';
import type { Values } from '../ops/setting.ts';
import { resolveSettingsAlone } from '../ops/settings.ts';
import { type Command, packageRoot } from './command.ts';
import { userAgentFor } from './contact-setting.ts';
import { type Finding, type Level, line, worst } from './doctor/finding.ts';
import { doctorSettings } from './doctor-settings.ts';

/** Exit codes of `almanac doctor`: 1 is also that of a setting that cannot be used. */
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
    // A name that a resolver has not answered for cannot be given up, and would keep this process for half a minute.
    process.exit(exitCodes[verdict]);
  },
};

/** All checks, those that wait side by side. Takes at most 10 s, whatever does not answer. */
async function examine(values: Values<typeof doctorSettings>): Promise<Finding[]> {
  // Loaded when it runs: the other commands carry no store and no websocket.
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
    import('./doctor/upstreams.ts'),
    import('./doctor/clock.ts'),
    import('./doctor/disk.ts'),
    import('./doctor/stores.ts'),
    import('./doctor/artifacts.ts'),
    import('./doctor/ports.ts'),
    import('./doctor/whose.ts'),
    import('./doctor/runtime.ts'),
    import('../labels/seeds.ts'),
    import('./doctor/denied.ts'),
    import('./doctor/proxy-trust.ts'),
    import('./doctor/contact.ts'),
  ]);
  const { data, host, port, basePath, accountPort, metricsPort } = values;
  const artifacts = values.artifacts ?? join(data, 'artifacts');
  const storeUrl = values.store ?? `sqlite:${join(data, 'labels')}`;
  const [did = ''] = await seeds.readSeeds(values.seeds ?? join(packageRoot(), 'assets', 'labelers.json'));
  const asked = upstreams.checkUpstreams(
    { jetstream: values.jetstream, relays: values.relay, plc: values.plc, userAgent: userAgentFor(values), did },
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
