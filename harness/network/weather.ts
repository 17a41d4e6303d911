import { compare, shortNames } from '../jetstream/compare.ts';
import type { FirehoseWitness, RelayEvent } from '../jetstream/firehose-witness.ts';
import type { JetstreamPlace } from '../jetstream/peers.ts';
import { endpointOf, isQuiet } from '../jetstream/scene.ts';
import type { Protocol, StreamWitness } from '../jetstream/stream-witness.ts';
import { readStore } from '../weather/weather-kept.ts';
import type { Ledger } from './ledger.ts';
import type { Observatory } from './observatory.ts';

/** The records of a run with which its weather is compared. */
interface WeatherRun {
  readonly ledger: Ledger;
  readonly firehose: FirehoseWitness;
  readonly witnesses: Readonly<Record<Protocol, StreamWitness>>;
  readonly weather: Observatory['weather'];
  readonly place: JetstreamPlace;
}

/**
 * Waits until everything has arrived, ends the weather instruments, and compares what each counted with the operations
 * that the API confirmed, and with every event of the relay. Returns a line for each difference.
 */
export async function judgeWeather(run: WeatherRun): Promise<string[]> {
  const { ledger, firehose, witnesses, weather, place } = run;
  await isQuiet({ relay: firehose, witnesses });
  const problems = [...firehose.problems, ...relayProblems(ledger, firehose.events)];
  for (const { wire, folder, program } of weather) {
    const code = await program.stop();
    if (code !== 0) problems.push(`${wire.name}: the instrument ended with ${code}`);
    const kept = readStore(folder, endpointOf(place, wire.protocol));
    const sent = witnesses[wire.protocol].sent;
    // Jetstream leaves out the `sync` of a new account, whose revision it knows from the empty first commit.
    const truth = new Map([...firehose.events].filter(([key, { what }]) => what !== 'sync' || sent.has(key)));
    const compared = compare(truth, sent, kept, false);
    if (compared.unobserved > 0) problems.push(`${wire.name}: ${compared.unobserved} events are unobserved`);
    const published = Object.fromEntries(
      Object.entries(kept.summary.collections).map(([name, collection]) => [name, collection?.total ?? null]),
    );
    problems.push(
      ...compared.problems.map((problem) => `${wire.name}: ${problem}`),
      ...[...totalsOf(ledger)].flatMap(([name, total]) =>
        published[name] === total ? [] : [`${wire.name}: ${name} is ${published[name]}, not ${total}`],
      ),
    );
  }
  return problems;
}

/** Compares the operations and changes that the API confirmed with those that the relay sent. */
function relayProblems({ operations, announced }: Ledger, events: ReadonlyMap<string, RelayEvent>): string[] {
  const sent = new Set([...events].filter(([, { what }]) => what.includes(' ')).map(([key]) => key));
  const lost = [...operations.keys()].filter((key) => !sent.has(key));
  const invented = [...sent].filter((key) => !operations.has(key));
  return [
    ...lost.map((key) => `the relay did not send ${key}`),
    ...invented.map((key) => `the relay sent ${key}, which was not done`),
    ...announcementProblems(announced, [...events.values()]),
  ];
}

/** Compares the events of accounts that the changes must have caused with those that the relay sent. */
function announcementProblems(announced: readonly string[], events: readonly RelayEvent[]): string[] {
  const counted = (keys: readonly string[]): Map<string, number> => {
    const counts = new Map<string, number>();
    for (const key of keys) counts.set(key, (counts.get(key) ?? 0) + 1);
    return counts;
  };
  const expected = counted(announced);
  const ofAccounts = events.filter(({ what }) => what === 'identity' || what === 'account');
  // The key of such an event is its kind, its account and the relay's number.
  const sent = counted(ofAccounts.map(({ key }) => key.split(' ').slice(0, 2).join(' ')));
  return [...new Set([...expected.keys(), ...sent.keys()])].flatMap((key) => {
    const [wanted, found] = [expected.get(key) ?? 0, sent.get(key) ?? 0];
    return wanted === found ? [] : [`the relay sent ${found} events "${key}", not ${wanted}`];
  });
}

/** Returns the totals that must be published for everything that was done. */
export function totalsOf({ operations, announced }: Ledger): Map<string, number> {
  const totals = new Map<string, number>();
  const count = (name: string): unknown => totals.set(name, (totals.get(name) ?? 0) + 1);
  for (const { collection, operation, shape } of operations.values()) {
    const name = shortNames[collection];
    // Of profiles only the updates are published.
    if (name === undefined || (name === 'profile' && operation !== 'update')) continue;
    count(`${name}.${operation}`);
    if (shape !== undefined) count(`${name}.${operation}.${shape}`);
  }
  for (const kind of ['identity', 'account']) {
    totals.set(`${kind}.event`, announced.filter((key) => key.startsWith(`${kind} `)).length);
  }
  return totals;
}
