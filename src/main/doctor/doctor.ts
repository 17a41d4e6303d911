import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Command } from '../command.ts';
import { isDemoFolder } from '../demo-folder.ts';
import { basePath } from '../serve.ts';
import { labelStoreIn, operatorBase } from '../shared-settings.ts';
import { doctorSettings, type SetUp } from './doctor-settings.ts';
import { type Finding, ok } from './finding.ts';

/** Exit codes of `almanac doctor`. Code 1 also means an invalid setting. */
const exitCodes = { ok: 0, fail: 1, warn: 2 } as const satisfies Record<Finding['level'], number>;

/** `almanac doctor`: checks this machine's set-up and suggests what to do. */
export const doctorCommand: Command<typeof doctorSettings> = {
  summary: "checks this machine's set-up: upstreams, clock, disk, stores, artifacts, ports",
  operands: '',
  settings: doctorSettings,
  exitCodes: [
    { code: exitCodes.ok, meaning: 'everything is ok' },
    { code: exitCodes.fail, meaning: 'a check failed (fail), or a setting is invalid' },
    { code: exitCodes.warn, meaning: 'no check failed, but something needs attention (warn)' },
  ],
  async run(values, { print }) {
    const { data, store, state, artifacts } = values;
    const findings = await examine({
      ...values,
      // The services accept a base path with a trailing slash, too.
      basePath: basePath(values.basePath),
      store: store ?? labelStoreIn(data),
      state: state ?? join(data, 'labels'),
      artifacts: artifacts ?? join(data, 'artifacts'),
    });
    const verdict = worst(findings);
    if (values.json) print(JSON.stringify({ verdict, findings }, null, 2));
    else for (const finding of findings) print(line(finding));
    // Exit explicitly: a pending name resolution cannot be cancelled and would delay the exit by half a minute.
    process.exit(exitCodes[verdict]);
  },
};

/** Runs all checks, the slow ones concurrently. Takes at most 10 s, even if no host responds, and at most 20 s with a public address. */
async function examine(setUp: SetUp): Promise<Finding[]> {
  const [upstreams, here] = await Promise.all([examineUpstreams(setUp), examineHere(setUp)]);
  return [...here, ...upstreams];
}

/** Checks this machine and its ports, and then the public address, which may listen on the port of the facts. */
async function examineHere(setUp: SetUp): Promise<Finding[]> {
  // Load the modules of the checks on demand, because most commands need neither the store nor the websocket.
  const [{ checkMachine }, { checkPorts }] = await Promise.all([import('./machine.ts'), import('./ports.ts')]);
  const { findings, generation } = await checkMachine(setUp);
  const ports = await checkPorts(setUp, generation);
  return [...findings, ...ports, ...(await examinePublicUrl(setUp))];
}

/**
 * Contacts the hosts of both instruments, reports which of them respond, and compares the clocks. Contacts no host if
 * the data directory belongs to a demo, because the upstreams of a demo are simulated.
 */
async function examineUpstreams(setUp: SetUp): Promise<readonly Finding[]> {
  if (isDemoFolder(setUp.data))
    return [ok('upstreams', 'not contacted, because the data directory contains the simulated data of a demo')];
  const { checkUpstreams } = await import('./upstreams.ts');
  return (await checkUpstreams(setUp)).findings;
}

/** Checks the proxies and caches in front of the facts API, if its public address is configured. */
async function examinePublicUrl({ publicUrl, host, port, basePath }: SetUp): Promise<Finding[]> {
  if (publicUrl === null) return [];
  const url = operatorBase('public-url', publicUrl);
  const { checkPublicUrl } = await import('./public-url.ts');
  return checkPublicUrl({
    publicUrl: url,
    service: { host, port, basePath },
    wait: (ms) => delay(ms),
    clock: Date.now,
  });
}

/** Returns the worst level of all findings. */
function worst(findings: readonly Finding[]): Finding['level'] {
  return (['fail', 'warn'] as const).find((level) => findings.some((finding) => finding.level === level)) ?? 'ok';
}

/** Formats a finding as one plain line. */
function line({ check, level, found, todo }: Finding): string {
  return `${level.padEnd(5)} ${check.padEnd(16)} ${found}${todo === null ? '' : `; ${todo}`}`;
}
