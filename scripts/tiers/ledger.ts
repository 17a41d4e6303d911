/** The result of one run of the gate's tests, as stored in a ledger: one line of JSON per run. */
export interface LedgerRun {
  /** Number of busy loops that ran next to the tests. */
  readonly loops: number;
  readonly isPassed: boolean;
  /** Duration of the run, in seconds. */
  readonly seconds: number;
  /** Number of test files that ran, second runs not counted. */
  readonly files: number;
  /** Number of proof files that needed a second run. */
  readonly secondRuns: number;
  /** Files that failed in their first run, each with the first line of its first error. */
  readonly failed: readonly { readonly file: string; readonly message: string }[];
}

/** Returns the runs of a ledger. An incomplete last line, which an interrupted run leaves, is skipped. */
export function runsIn(text: string): LedgerRun[] {
  return text.split('\n').flatMap((line) => {
    try {
      return [JSON.parse(line) as LedgerRun];
    } catch {
      return [];
    }
  });
}

/** Returns the number of busy loops of the next run, or null if each number in `loops` has had `runs` runs. */
export function nextLoops(done: readonly LedgerRun[], loops: readonly number[], runs: number): number | null {
  const left = loops
    .map((count) => ({ count, had: done.filter((run) => run.loops === count).length }))
    .filter(({ had }) => had < runs)
    .sort((a, b) => a.had - b.had);
  return left[0]?.count ?? null;
}

/** Returns the ledger as two Markdown tables: the runs by number of busy loops, and the files that ever failed. */
export function ledgerTables(done: readonly LedgerRun[]): string {
  const loops = [...new Set(done.map((run) => run.loops))].sort((a, b) => a - b);
  const lines = ['| busy loops | runs | green | second runs | seconds |', '| ---: | ---: | ---: | ---: | --- |'];
  for (const count of loops) {
    const runs = done.filter((run) => run.loops === count);
    const seconds = runs.map((run) => run.seconds);
    const green = runs.filter(({ isPassed }) => isPassed).length;
    const second = runs.reduce((sum, run) => sum + run.secondRuns, 0);
    lines.push(
      `| ${count} | ${runs.length} | ${green} | ${second} | ${Math.min(...seconds)} to ${Math.max(...seconds)} |`,
    );
  }
  const failures = done.flatMap(({ failed }) => failed);
  const files = [...new Set(failures.map(({ file }) => file))].sort();
  if (files.length === 0) return [...lines, '', `No file failed in ${done.length} runs.`].join('\n');
  lines.push('', '| file | failed | last message |', '| --- | --- | --- |');
  for (const file of files) {
    const own = failures.filter((failure) => failure.file === file);
    const message = (own.at(-1)?.message ?? '').replaceAll('|', '\\|');
    lines.push(`| \`${file}\` | ${own.length} of ${done.length} | ${message} |`);
  }
  return lines.join('\n');
}
