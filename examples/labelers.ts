/** What do labelers do? `node labelers.ts BASE-ADDRESS`. Exit code 3 when the service refuses the fact. */
import { AnswerError, createFactsClient, FactsError, NetworkError, StaleCacheError } from 'almanac/client';

const base = process.argv[2] ?? 'http://127.0.0.1:8400';
const client = createFactsClient(base);
try {
  const { value } = await client.labelsOverview();
  const { facts, freshness, provenance, caveats } = value;
  console.log(`origin\t${provenance.origin ?? 'not stated'}`);
  console.log(`freshness\t${freshness.state}`);
  if ('counts' in facts) {
    const { coverage, counts } = facts;
    console.log(`coverage\t${coverage.status}\t${coverage.observed_days} of ${facts.window_days} days`);
    console.log(`gaps\t${coverage.gap_overflow ? 'more than can be listed' : coverage.gaps.length}`);
    console.log(`sources\t${coverage.sources.established} of ${coverage.sources.enrolled} established`);
    console.log(`events in 24 hours\t${counts.events_24h}`);
    console.log(`events in 7 days\t${counts.events_7d}`);
    console.log(`events in the window\t${counts.events_window}`);
    console.log(`labelers active in 7 days\t${counts.labelers_active_7d}`);
  } else {
    // The legacy producer counts alerts, and states how complete its observation was.
    console.log(`observation\t${facts.observation?.adequacy ?? 'not known'}`);
    console.log(`signals\t${facts.network_weather.signals.join(', ')}`);
    console.log(`alerts in 7 days\t${facts.alert_count_window ?? 'not known'}`);
  }
  for (const { labeler_did, count } of facts.top_labelers_7d) console.log(`${labeler_did}\t${count}`);
  // Caveats, and what is not measured, are part of the fact.
  for (const caveat of caveats) console.log(`caveat\t${caveat}`);
  for (const thing of provenance.does_not_measure ?? []) console.log(`does not measure\t${thing}`);
} catch (error) {
  if (error instanceof NetworkError || error instanceof AnswerError || error instanceof StaleCacheError) {
    console.error(`no usable answer from ${base}: ${error.message}`);
    process.exitCode = 1;
  } else if (error instanceof FactsError) {
    // The refusal is the answer: nothing is shown in its place.
    console.error(`refused\t${error.status} ${error.code}\t${error.message}`);
    process.exitCode = 3;
  } else throw error;
}
