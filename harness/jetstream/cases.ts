import type { Case } from './case.ts';
import { programCases } from './cases-programs.ts';
import { relayCases } from './cases-relay.ts';
import { type Files, runScene, type SceneResult } from './scene.ts';

const cases: readonly Case[] = [...programCases, ...relayCases];

/** Runs the cases whose names contain a text, and prints a line for each wire and a row for each case. */
export async function runCases(files: Files, only: string, print: (line: string) => void): Promise<number> {
  let wrong = 0;
  const rows: string[] = [];
  print(
    'case | wire | expected | relay | jetstream | published | unobserved | left out | not from the relay | gap s | µs/event | notices | verdict',
  );
  const possible = cases.filter(({ options }) => options.adversity === undefined || files.adversary !== null);
  for (const { name, expected, options, act } of possible.filter((one) => one.name.includes(only))) {
    const results = await runScene(files, options, act).catch((error: unknown) => {
      print(`${name} | the case failed: ${String(error)}`);
      wrong += 1;
      return [];
    });
    for (const result of results) {
      print(lineOf(name, expected, result));
      for (const problem of result.problems.slice(0, 5)) print(`    ${problem}`);
      if (result.problems.length > 0) wrong += 1;
    }
    if (results.length > 0) rows.push(rowOf(name, expected, results));
  }
  print('\n| case | guess | relay | published | unobserved s | result |\n| --- | --- | ---: | ---: | ---: | --- |');
  for (const row of rows) print(row);
  return wrong;
}

function verdictOf({ problems, published, unobserved, relay, leftOut, compacted }: SceneResult): string {
  if (problems.length > 0) return 'WRONG';
  if (compacted > 0 && unobserved === 0) return 'less, marked as compacted';
  return published + leftOut + compacted === relay ? 'equal' : 'the rest unobserved';
}

function lineOf(name: string, expected: string, result: SceneResult): string {
  const { wire, relay, jetstream, published, unobserved, leftOut, invented, gapSeconds, processorUs, notices } = result;
  const numbers = [relay, jetstream, published, unobserved, leftOut, invented, gapSeconds.toFixed(2), processorUs];
  return [name, wire, expected, ...numbers, notices, verdictOf(result)].join(' | ');
}

/** Returns the row of a case for the table in `docs/testing.md`: the least and the greatest value of all wires. */
function rowOf(name: string, expected: string, results: readonly SceneResult[]): string {
  const range = (of: (result: SceneResult) => number, digits = 0): string => {
    const values = results.map(of);
    const [least, most] = [Math.min(...values).toFixed(digits), Math.max(...values).toFixed(digits)];
    return least === most ? least : `${least} to ${most}`;
  };
  const some = (of: (result: SceneResult) => number, text: string): string[] =>
    results.every((result) => of(result) === 0) ? [] : [`${text} ${range(of)}`];
  const verdicts = [
    ...new Set(results.map(verdictOf)),
    ...some(({ leftOut }) => leftOut, 'Jetstream leaves out'),
    ...some(({ compacted }) => compacted, 'missing in marked minutes:'),
  ].join('; ');
  const numbers = [range(({ relay }) => relay), range(({ published }) => published)];
  return `| ${[name, expected, ...numbers, range(({ gapSeconds }) => gapSeconds, 1), verdicts].join(' | ')} |`;
}
