/**
 * Copies a large store while a process appends to it, and kills the copy many times: `node scripts/prove-copy.ts
 * [--rows 5000000] [--days 5] [--kills 20] [--rate 500] [--from sqlite] [--to postgres]`. Fails unless the copy equals
 * the source row for row and contains every appended row. Prints the rate of the copy.
 */
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { parseArgs } from 'node:util';
import { hashedDays } from '../harness/copy/content.ts';
import { fillStore } from '../harness/copy/traffic.ts';
import { startPostgres } from '../harness/postgres/server.ts';
import { temporaryFolder } from '../harness/process/at-exit.ts';
import { startScript } from '../harness/process/script.ts';
import { openStoreReader } from '../src/store/open.ts';

const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '5000000' },
    days: { type: 'string', default: '5' },
    kills: { type: 'string', default: '20' },
    rate: { type: 'string', default: '500' },
    from: { type: 'string', default: 'sqlite' },
    to: { type: 'string', default: 'postgres' },
  },
});
const [rows, kills] = [Number(values.rows), Number(values.kills)];
const say = (line: string): void => void process.stdout.write(`${new Date().toISOString().slice(11, 19)} ${line}\n`);

const { folder, remove } = temporaryFolder('prove-copy');
const server = await startPostgres({ durable: true });
const place = (kind: string, name: string) => (kind === 'postgres' ? server.url(name) : `sqlite:${join(folder, name)}`);
const [from, to] = [place(values.from, 'original'), place(values.to, 'copied')];
try {
  say(`filling ${values.from} with ${rows} rows`);
  const next = await fillStore(from, rows, Number(values.days), Date.now() * 1000);
  const appender = startScript('copy/appender.ts', [from, String(next), values.rate]);
  await appender.line('open');
  const { last, seconds } = await copyWithKills();
  await appender.end('SIGTERM');
  const appended = Number((await appender.line('appended'))?.split(' ')[1]);
  say(`${appended} rows were appended meanwhile`);
  const handedOver = performance.now();
  if ((await last.ended) !== 0) throw new Error('the copying process exited with an error');
  say(`the copy completed ${Math.round(performance.now() - handedOver)} ms after the appender had ended`);
  say(
    `${Math.round((rows + appended) / seconds)} rows per second over ${Math.round(seconds)} s, load ${loadavg()[0]?.toFixed(1)}`,
  );
  await compare(rows + appended);
} finally {
  await server.stop();
  remove();
}

/**
 * Runs the copy until every row is copied, killing it several times. Returns the last process, and the seconds for
 * which a copy was running. Rejects if a reader does not refuse the unfinished copy after a kill.
 */
async function copyWithKills() {
  let running = 0;
  let begun = performance.now();
  for (let kill = 1; kill <= kills; kill++) {
    const copier = startScript('copy/copier.ts', [from, to], (line) => say(`  ${line}`));
    await copier.line(' rows');
    await wait(500 + Math.random() * 6_000);
    await copier.end('SIGKILL');
    running += performance.now() - begun;
    const refused = await openStoreReader(to).then(
      () => 'no error',
      (error: { code?: string }) => error.code,
    );
    if (refused !== 'unfinished_copy')
      throw new Error(`after kill ${kill}, opening the copy resulted in ${refused}, expected unfinished_copy`);
    begun = performance.now();
  }
  const last = startScript('copy/copier.ts', [from, to], (line) => say(`  ${line}`));
  await last.line('every row is copied');
  return { last, seconds: (running + performance.now() - begun) / 1000 };
}

async function compare(expected: number): Promise<void> {
  const [before, after] = [await hashedDays(from), await hashedDays(to)];
  const found = after.reduce((sum, day) => sum + day.rows, 0);
  if (JSON.stringify(before) !== JSON.stringify(after)) throw new Error('the copy differs from its source');
  if (found !== expected) throw new Error(`${expected} rows were stored, and the copy has ${found}`);
  const store = await openStoreReader(to);
  for await (const { day, problems } of store.verify()) {
    if (problems.length > 0) throw new Error(`${day}: ${problems[0]}`);
  }
  await store.close();
  say(`equal row for row: ${found} rows, every counter matches its rows`);
}
