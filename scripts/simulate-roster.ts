/**
 * Prints the values of `coverage` for 700 labelers over 30 days: `npm run test:roster -- [--labelers N] [--seed N]`.
 */
import { parseArgs } from 'node:util';
import { monthTable, simulateMonth } from '../harness/roster/roster-month.ts';

const { values } = parseArgs({
  options: { labelers: { type: 'string', default: '700' }, seed: { type: 'string', default: '1' } },
});
const month = await simulateMonth({ labelers: Number(values.labelers), seed: Number(values.seed) });
process.stdout.write(`${monthTable(month)}\n`);
for (const [message, count] of month.logged) process.stdout.write(`${count} times: ${message}\n`);
