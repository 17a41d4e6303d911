import { setTimeout as wait } from 'node:timers/promises';
import { until } from '../process/until.ts';
import type { Cluster } from './cluster.ts';
import type { Machine } from './machine.ts';
import type { Observatory } from './observatory.ts';

const data = '/var/lib/postgresql/patroni/almanac';
const control = '/usr/lib/postgresql/15/bin/pg_ctl';
/** Time for which the instruments continue to store rows after the target time of the restore, in milliseconds. */
const laterMs = 15_000;

/**
 * Restores the database to an earlier point in time as docs/operations/failover.md describes, while the instruments
 * run. Returns that point in time and the time of the restore, in microseconds.
 */
export async function restoreEarlier(cluster: Cluster, observatory: Observatory) {
  const to = Date.now() * 1000;
  await wait(laterMs);
  // Archive the WAL, because a restore reaches the target time only if the archive contains a later commit.
  await cluster.sql('postgres', ['SELECT pg_switch_wal()']);
  await wait(laterMs);
  const at = Date.now() * 1000;
  const [first, ...others] = cluster.machines;
  if (!first) throw new Error('the cluster has no machines');
  for (const machine of cluster.machines) await stopPatroni(machine);
  const target = new Date(to / 1000).toISOString().replace('T', ' ').replace('Z', '+00');
  const restore = ['--stanza=almanac', '--delta', '--type=time', `--target=${target}`, '--target-action=promote'];
  first.run('postgres', ['pgbackrest', ...restore, 'restore']);
  const log = ['-D', data, '-l', `${data}/restore.log`, '-t', '120', '-w'];
  first.run('postgres', [control, ...log, 'start']);
  const isRecovered = (): boolean => {
    const query = 'SELECT pg_is_in_recovery()';
    return first.run('postgres', ['psql', '-h', '/var/run/postgresql', '-tAc', query, 'postgres']).trim() === 'f';
  };
  await until('the recovery has ended', isRecovered);
  first.run('postgres', [control, ...log, '-m', 'fast', 'stop']);
  const remove = 'printf "almanac\\nYes I am aware\\n" | patronictl -c /etc/patroni/config.yml remove almanac';
  first.run('postgres', ['sh', '-c', remove]);
  startPatroni(first);
  await until('the restored primary is running', async () => (await cluster.machine('leader')) !== null, 120_000);
  for (const machine of others) {
    machine.run('postgres', ['rm', '-rf', data]);
    startPatroni(machine);
  }
  await cluster.whole();
  await until('an instrument has detected the loss', () => hasNoticed(observatory), 120_000);
  return { to, at };
}

function hasNoticed({ instruments }: Observatory): boolean {
  return instruments.some((one) => one.log().some(({ msg }) => String(msg).includes('has lost commits')));
}

/** Stops Patroni, and with it the server, until Patroni is started again. */
async function stopPatroni(machine: Machine): Promise<void> {
  const stop = 'touch "$0/stopped" && kill "$(cat "$0/run_patroni.pid")"';
  machine.run('root', ['sh', '-c', stop, machine.home]);
  await until(`the server on ${machine.name} has stopped`, () =>
    machine.run('root', ['sh', '-c', '[ -e "$0/postmaster.pid" ] || echo stopped', data]).includes('stopped'),
  );
}

function startPatroni(machine: Machine): void {
  machine.run('root', ['rm', `${machine.home}/stopped`]);
}
