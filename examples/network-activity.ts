/** How busy is the network? `node network-activity.ts BASE-ADDRESS`. Exit code 3 when the service refuses the fact. */
import {
  AnswerError,
  createFactsClient,
  FactsError,
  NetworkError,
  StaleCacheError,
  weatherCurrency,
} from 'almanac/client';

const base = process.argv[2] ?? 'http://127.0.0.1:8400';
const client = createFactsClient(base);
try {
  const reading = await client.weatherMetrics();
  const { value } = reading;
  const { window, collections, total_events } = value.facts;
  console.log(`origin\t${value.provenance.origin ?? 'not stated'}`);
  // Weather is never refused for its age: unless this is `current` or `partial`, the numbers do not describe the present.
  console.log(`currency\t${weatherCurrency(reading)}`);
  console.log(`window\t${window.start ?? 'not known'}\t${window.end ?? 'not known'}`);
  console.log(`observed\t${window.observed_seconds} of ${window.span_seconds} seconds`);
  console.log(
    `all events\t${total_events.total ?? 'not known'}\t${total_events.mean_rate_per_s ?? 'not known'} a second`,
  );
  for (const [name, metrics] of Object.entries(collections)) {
    // Missing or null means that it was not observed. It is not a zero.
    if (metrics) console.log(`${name}\t${metrics.total}\t${metrics.mean_rate_per_s ?? 'not known'} a second`);
    else console.log(`${name}\tnot observed`);
  }
  // Caveats, and what is not measured, are part of the fact.
  for (const caveat of value.caveats) console.log(`caveat\t${caveat}`);
  for (const thing of value.provenance.does_not_measure ?? []) console.log(`does not measure\t${thing}`);
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
