import type { Sim } from '../../../sim/index.ts';
import { plainDefinitions } from '../../../sim/labelers/declarations.ts';
import type { Labeler } from '../../../sim/labelers/labeler.ts';
import type { LabelDefinition } from '../../../sim/labelers/profile.ts';
import type { LabelerDefinitionsLine } from '../../../src/artifact/labelers.ts';
import type { ExpectedLabeler } from './expected.ts';
import type { LabelersSet } from './read-set.ts';

/**
 * Compares the published definitions with the labelers' records. A labeler that never responded may have no
 * definitions, and a denied labeler must not have any. The simulated records do not define system values.
 */
export function definitionProblems(
  { definitions }: LabelersSet,
  sim: Sim,
  expected: ReadonlyMap<string, ExpectedLabeler>,
): string[] {
  const lines = new Map(definitions.map((line) => [line.did, line]));
  const problems = [...lines.keys()]
    .filter((did) => !expected.has(did))
    .map((did) => `${did} has definitions but no line`);
  for (const [did, { name, values, firstAnswered, isDenied }] of expected) {
    const line = lines.get(did);
    if (line !== undefined && isDenied)
      problems.push(`${did} (${name}): the definitions of a denied labeler are published`);
    if (line === undefined || isDenied) {
      if (firstAnswered !== null && !isDenied) problems.push(`${did} (${name}): the definitions are missing`);
      continue;
    }
    const wanted = definitionsOf(sim.labelers.of(did))
      .filter(({ identifier }) => values.declared.has(identifier))
      .map(({ identifier, severity, blurs, defaultSetting, adultOnly, locales }) => ({
        ...{ value: identifier, severity, blurs, default_setting: defaultSetting, adult_only: adultOnly, locales },
      }));
    const got = line.values.filter(({ locales }) => locales.length > 0);
    if (canonical(wanted) !== canonical(got)) {
      problems.push(`${did} (${name}): the definitions are ${canonical(got)}, not ${canonical(wanted)}`);
    }
  }
  return problems;
}

/** Returns the newest definition of each value that a labeler declares or has ever declared. */
export function definitionsOf({ records }: Pick<Labeler, 'records'>): LabelDefinition[] {
  const newest = new Map<string, LabelDefinition>();
  for (const { values, definitions = plainDefinitions(values) } of records) {
    for (const definition of definitions) newest.set(definition.identifier, definition);
  }
  return [...newest.values()];
}

type Locale = Readonly<LabelerDefinitionsLine['values'][number]['locales'][number]>;
type Text = Omit<LabelerDefinitionsLine['values'][number], 'withheld' | 'locales'> & {
  readonly locales: readonly Locale[];
};

/** Formats definitions as JSON with a fixed order of values and fields. */
function canonical(values: readonly Text[]): string {
  return JSON.stringify(
    values
      .toSorted((a, b) => (a.value < b.value ? -1 : 1))
      .map(({ value, severity, blurs, default_setting, adult_only, locales }) => [
        ...[value, severity, blurs, default_setting, adult_only],
        locales.map(({ lang, name, description }) => [lang, name, description]),
      ]),
  );
}
