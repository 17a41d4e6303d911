import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { httpSchemes } from '../../input/url.ts';
import {
  integer,
  optionalInteger,
  optionalText,
  resolveSettingsAlone,
  text,
  toggle,
  type Values,
} from '../../ops/setting.ts';
import { archiveSettings } from '../archive/archive-settings.ts';
import type { Command } from '../command.ts';
import { isDemoFolder } from '../demo-folder.ts';
import { defaultData, factsSettings, freshnessSettings } from '../facts/facts-settings.ts';
import { labelsSettings } from '../labels/labels-settings.ts';
import { operatorUrl, userAgentFor } from '../shared-settings.ts';
import { weatherSettings } from '../weather/weather-settings.ts';
import { type Finding, type Level, ok, warn } from './finding.ts';

/** Settings of `almanac doctor`, which include the settings of the commands that it checks. */
const doctorSettings = {
  json: toggle('json', 'print the findings as one JSON object'),
  data: text('data', 'DIR', defaultData, 'data directory'),
  store: optionalText('store', 'URL', 'the observation store; default: "labels" in --data'),
  artifacts: optionalText('artifacts', 'DIR', 'directory of the artifacts; default: "artifacts" in --data'),
  archive: optionalText('archive', 'DIR', 'directory of the archive; default: not checked'),
  archiveKey: archiveSettings.archiveKey,
  host: factsSettings.host,
  port: integer('port', 'PORT', 8400, { min: 1, max: 65_535 }, 'port of the facts API'),
  basePath: factsSettings.basePath,
  publicUrl: optionalText(
    'public-url',
    'URL',
    'public URL of the facts API, whose proxies and caches are checked; default: not checked',
  ),
  accountPort: integer('account-port', 'PORT', 8401, { min: 1, max: 65_535 }, 'port of the account-view surface'),
  metricsPort: optionalInteger(
    'metrics-port',
    'PORT',
    { min: 1, max: 65_000 },
    'first of the four consecutive metrics ports (facts, weather, labels, account); default: not checked',
  ),
  jetstream: weatherSettings.jetstream,
  relay: labelsSettings.relay,
  plc: labelsSettings.plc,
  seeds: labelsSettings.seeds,
  contact: labelsSettings.contact,
  minFreeMegabytes: labelsSettings.minFreeMegabytes,
  ...freshnessSettings,
  allowLoopback: labelsSettings.allowLoopback,
};

/** Exit codes of `almanac doctor`. Code 1 also means an invalid setting. */
const exitCodes = { ok: 0, fail: 1, warn: 2 } as const satisfies Record<Level, number>;

type DoctorValues = Values<typeof doctorSettings>;

/** `almanac doctor`: checks this machine's set-up and suggests what to do. */
export const doctorCommand: Command = {
  summary: "checks this machine's set-up: upstreams, clock, disk, stores, artifacts, ports",
  operands: '',
  settings: doctorSettings,
  exitCodes: [
    { code: exitCodes.ok, meaning: 'everything is ok' },
    { code: exitCodes.fail, meaning: 'a check failed (fail), or a setting is invalid' },
    { code: exitCodes.warn, meaning: 'no check failed, but something needs attention (warn)' },
  ],
  async run({ args, env, knownFlags, print }) {
    const values = resolveSettingsAlone(doctorSettings, { args, env, knownFlags });
    const findings = await examine(values);
    const verdict = worst(findings);
    if (values.json) print(JSON.stringify({ verdict, findings }, null, 2));
    else for (const finding of findings) print(line(finding));
    // Exit explicitly: a pending name resolution cannot be cancelled and would delay the exit by half a minute.
    process.exit(exitCodes[verdict]);
  },
};

/** Runs all checks, the slow ones concurrently. Takes at most 10 s, even if no host responds, and at most 20 s with a public address. */
async function examine(values: DoctorValues): Promise<Finding[]> {
  const asked = examineUpstreams(values);
  const here = examineMachine(values);
  const listeners = here.then(({ generation }) => examinePorts(values, generation));
  return [...(await here).findings, ...(await listeners), ...(await asked)];
}

/**
 * Contacts the hosts of both instruments, reports which of them respond, and compares the clocks. Contacts no host if
 * the data directory belongs to a demo, because the upstreams of a demo are simulated.
 */
async function examineUpstreams(values: DoctorValues): Promise<Finding[]> {
  if (isDemoFolder(values.data))
    return [ok('upstreams', 'not contacted, because the data directory contains the simulated data of a demo')];
  // Load the modules for the store and the websocket on demand, because most commands do not need them.
  const { checkClock, checkUpstreams, networkFinding, sampleDid } = await import('./upstreams.ts');
  const { jetstream, relay: relays, plc: directories } = values;
  const did = await sampleDid(values.seeds);
  const upstreams = { jetstream, relays, directories, userAgent: userAgentFor(values), did };
  const { findings, offsets, tried } = await checkUpstreams(
    upstreams,
    { allowLoopback: values.allowLoopback },
    Date.now,
  );
  const network = networkFinding(tried);
  return [...findings, ...(network === null ? [] : [network]), checkClock(offsets)];
}

/** Checks the runtime, the directories, the stores and the artifacts. */
async function examineMachine(values: DoctorValues) {
  const [{ checkFolder, checkRuntime, checkSpace }, stores, { checkArtifacts, checkPublishedHost }] = await Promise.all(
    [import('./machine.ts'), import('./stores.ts'), import('./artifacts.ts')],
  );
  const { data, maxAgeSeconds, maxArtifactBytes } = values;
  const artifacts = artifactsOf(values);
  const store = await stores.checkStore(storeOf(values), Date.now());
  const bounds = { maxAgeSeconds, collectionMaxAgeSeconds: values.collectionMaxAgeSeconds ?? maxAgeSeconds };
  const findings = [
    checkRuntime(),
    checkContact(values.contact),
    checkFolder('data directory', data),
    checkSpace(data, values.minFreeMegabytes * 1_000_000, store.bytes),
    ...store.findings,
    ...(await stores.checkDenied(storeOf(values), join(data, 'labels'))),
    stores.checkWeatherStore(data),
    ...checkArtifacts(artifacts, maxArtifactBytes, bounds, Date.now()),
    ...checkPublishedHost(artifacts, maxArtifactBytes, values.jetstream),
    ...(await examineArchive(values)),
  ];
  return { findings, generation: store.generation };
}

/** Checks that a contact is set, so that operators of labelers and hosts can reach the operator of this observatory. */
function checkContact(contact: string | null): Finding {
  if (contact !== null) return ok('contact', `requests name ${contact}`);
  return warn(
    'contact',
    'no contact is set: operators of labelers cannot reach you',
    'set --contact to a web or mail address',
  );
}

/** Checks the archive, if its directory is configured. */
async function examineArchive({ archive, archiveKey }: DoctorValues): Promise<Finding[]> {
  if (archive === null) return [];
  return (await import('./artifacts.ts')).checkArchive(archive, archiveKey, Date.now());
}

/** Checks the ports of both servers, and the metrics ports if they are configured. */
async function examinePorts(values: DoctorValues, generation: string | null): Promise<Finding[]> {
  const ports = await import('./ports.ts');
  const { host, port, basePath, accountPort, metricsPort, maxArtifactBytes } = values;
  const artifacts = artifactsOf(values);
  const isOurFacts = ports.servesArtifacts(artifacts, maxArtifactBytes, basePath);
  const facts = { host, port, flag: 'port', of: artifacts, isOurs: isOurFacts };
  const isOurAccount = ports.readsStore(generation);
  const account = { host, port: accountPort, flag: 'account-port', of: storeOf(values), isOurs: isOurAccount };
  const metrics = metricsPort === null ? [] : ['facts', 'weather', 'labels', 'account'];
  const listeners = await Promise.all([
    ports.checkPort(ports.servicePort('facts port', 'almanac-facts', facts, basePath)),
    ports.checkPort(ports.servicePort('account port', 'almanac-account', account)),
    ...metrics.map((part, i) => ports.checkPort(ports.metricsPort(part, (metricsPort ?? 0) + i))),
  ]);
  const trust = metricsPort === null ? null : await ports.checkProxyTrust(metricsPort + 3);
  // The check of the public address may listen on the port of the facts, so it follows the check of the ports.
  return [...listeners, ...(trust ? [trust] : []), ...(await examinePublicUrl(values))];
}

/** Checks the proxies and caches in front of the facts API, if its public address is configured. */
async function examinePublicUrl({ publicUrl, host, port, basePath }: DoctorValues): Promise<Finding[]> {
  if (publicUrl === null) return [];
  const url = operatorUrl('public-url', publicUrl, { schemes: httpSchemes }).href.replace(/\/+$/, '');
  const { checkPublicUrl } = await import('./public-url.ts');
  return checkPublicUrl({
    publicUrl: url,
    service: { host, port, basePath },
    wait: (ms) => delay(ms),
    clock: Date.now,
  });
}

function artifactsOf({ artifacts, data }: DoctorValues): string {
  return artifacts ?? join(data, 'artifacts');
}

function storeOf({ store, data }: DoctorValues): string {
  return store ?? `sqlite:${join(data, 'labels')}`;
}

/** Returns the worst level of all findings. */
function worst(findings: readonly Finding[]): Level {
  return (['fail', 'warn'] as const).find((level) => findings.some((finding) => finding.level === level)) ?? 'ok';
}

/** Formats a finding as one plain line. */
function line({ check, level, found, todo }: Finding): string {
  return `${level.padEnd(5)} ${check.padEnd(16)} ${found}${todo === null ? '' : `; ${todo}`}`;
}
