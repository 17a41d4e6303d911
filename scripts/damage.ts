/**
 * `npm run test:damage -- [--cases 10000] [--seed 1] [--state FILE]`: damages every kind of file that Almanac writes,
 * and prints the effects by kind of file and kind of damage. With a state file, an interrupted run can be continued.
 */
import { existsSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { parseArgs } from 'node:util';
import { DamageCases, isBroken } from '../harness/damage/cases.ts';
import { verdicts } from '../harness/damage/judge-store.ts';
import { temporaryFolder } from '../harness/process/at-exit.ts';

const { values } = parseArgs({
  options: {
    cases: { type: 'string', default: '10000' },
    seed: { type: 'string', default: '1' },
    state: { type: 'string' },
  },
});
const [cases, seed] = [Number(values.cases), Number(values.seed)];

interface State {
  readonly seed: number;
  next: number;
  broken: number;
  readonly counts: Record<string, Record<string, number>>;
}
const state: State =
  values.state !== undefined && existsSync(values.state)
    ? (JSON.parse(readFileSync(values.state, 'utf8')) as State)
    : { seed, next: 0, broken: 0, counts: {} };
if (state.seed !== seed) throw new Error(`the state file belongs to seed ${state.seed}`);

const { folder, remove } = temporaryFolder('damage');
try {
  const damaged = await DamageCases.make(folder, seed);
  for (; state.next < cases; state.next++) {
    const one = await damaged.run(state.next);
    const name = `${one.file} | ${one.damage}`;
    const row = state.counts[name] ?? {};
    state.counts[name] = row;
    row[one.verdict] = (row[one.verdict] ?? 0) + 1;
    if (isBroken(one)) {
      state.broken += 1;
      console.error(JSON.stringify(one));
    }
    if (state.next % 100 === 99) save();
  }
  save();
} finally {
  remove();
}
console.log(`seed ${seed}, ${state.next} cases, ${state.broken} broken`);
console.log(`| file | damage | ${verdicts.join(' | ')} |`);
console.log(`| ---- | ------ | ${verdicts.map(() => '---:').join(' | ')} |`);
for (const [name, row] of Object.entries(state.counts).sort()) {
  console.log(`| ${name} | ${verdicts.map((verdict) => row[verdict] ?? 0).join(' | ')} |`);
}
if (state.broken > 0) process.exitCode = 1;

function save(): void {
  if (values.state === undefined) return;
  writeFileSync(`${values.state}.new`, JSON.stringify(state));
  renameSync(`${values.state}.new`, values.state);
}
