import { paths } from '../../src/contract/identifiers.ts';
import { readOverview } from './judge-state.ts';
import type { ReadPage } from './options.ts';
import { comesToHold } from './watch.ts';

/**
 * Time within which the page and the facts must agree, in milliseconds. Representations change once per minute, so two
 * concurrent requests may return different ones.
 */
const patienceMs = 10_000;

/** Returns the differences between the served overview and the artifact, and between the page and the facts. */
export async function publicationProblems(
  factsUrl: string,
  artifacts: string,
  readPage: ReadPage | null,
): Promise<string[]> {
  let problems: string[] = [];
  await comesToHold(async () => {
    problems = await look(factsUrl, artifacts, readPage);
    return problems.length === 0;
  }, patienceMs);
  return problems;
}

async function look(factsUrl: string, artifacts: string, readPage: ReadPage | null): Promise<string[]> {
  const get = async (path: string): Promise<string> => (await fetch(`${factsUrl}${path}`)).text();
  const documents = {
    labels: JSON.parse(await get(paths.labelsOverview)) as { facts?: { counts?: unknown }; generated_at?: unknown },
    conditions: JSON.parse(await get(paths.weatherConditions)) as unknown,
    metrics: JSON.parse(await get(paths.weatherMetrics)) as unknown,
  };
  const artifact = await readOverview(artifacts);
  const { labels } = documents;
  const problems = readPage === null ? [] : readPage(await get('/'), documents).map((fault) => `the page: ${fault}`);
  if (labels.generated_at !== artifact?.generated_at) problems.push('the facts are derived from another artifact');
  else if (JSON.stringify(labels.facts?.counts) !== JSON.stringify(artifact?.counts))
    problems.push('the counts in the facts differ from those in the artifact');
  return problems;
}
