/**
 * Runs an operation under the shim: `process.ts OPERATION MODE SEED LIMIT`. Mode `each` makes every call fail once, and
 * varies the kind of failure. Mode `all` makes every call fail in every way that its class allows, once and
 * permanently. LIMIT is the maximum number of runs in mode `each`. Prints one line of JSON per run.
 */
import { join } from 'node:path';
import { temporaryFolder } from '../process/at-exit.ts';
import { fileOperations } from './file-operations.ts';
import { FaultRun, type Outcome } from './run.ts';
import { type CallClass, type Failure, FaultControl, failures } from './shim.ts';
import { storeOperations } from './store-operations.ts';

const [name = '', mode = '', seedText = '', limitText = ''] = process.argv.slice(2);
const operation = [...fileOperations, ...storeOperations].find((one) => one.name === name);
const [none] = failures;
if (!operation || !none) throw new Error(`unknown operation ${name}`);

const { folder, remove } = temporaryFolder('faults');
const control = new FaultControl(process.env.ALMANAC_FAULTS ?? '');
try {
  const run = new FaultRun(operation, join(folder, 'template'), join(folder, 'place'), control);
  const calls = await run.learn(none);
  for (const { nth, failure, onwards } of mode === 'all' ? all(calls) : each(calls, Number(seedText))) {
    const outcome: Outcome | null = await run.fail(nth, failure, onwards);
    if (outcome) process.stdout.write(`${JSON.stringify(outcome)}\n`);
  }
} finally {
  control.close();
  remove();
}

interface Planned {
  readonly nth: number;
  readonly failure: Failure;
  readonly onwards: boolean;
}

function applicable(call: CallClass): readonly Failure[] {
  return failures.filter(({ classes }) => classes.includes(call));
}

/**
 * Plans one failure for every call. If there are more calls than the limit, plans a failure for every second or third
 * call, and so on; the seed determines the first of these calls.
 */
function each(calls: readonly CallClass[], seed: number): Planned[] {
  const stride = Math.max(1, Math.ceil(calls.length / Number(limitText)));
  return calls.flatMap((call, i) => {
    if ((i + seed) % stride !== 0) return [];
    const possible = applicable(call);
    const failure = possible[Math.floor((i + seed) / stride) % possible.length];
    return failure ? [{ nth: i + 1, failure, onwards: false }] : [];
  });
}

function all(calls: readonly CallClass[]): Planned[] {
  return calls.flatMap((call, i) =>
    applicable(call).flatMap((failure) => [
      { nth: i + 1, failure, onwards: false },
      // Repeat each failure permanently as well, except an input/output error and a short write.
      ...(['EIO', 'short write'].includes(failure.name) ? [] : [{ nth: i + 1, failure, onwards: true }]),
    ]),
  );
}
