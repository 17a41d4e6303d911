import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { argsOf, isReading, type Wire } from '../jetstream/scene.ts';
import { killAtExit } from '../process/at-exit.ts';
import { type Program, type Server, startProgram, startServer } from '../process/program.ts';

/** Addresses of the network that an observatory observes. */
interface Observed {
  readonly jetstream: string;
  readonly relay: string;
  readonly directory: string;
}

/** A whole observatory of real programs. */
export interface Observatory {
  readonly weather: readonly { readonly wire: Wire; readonly folder: string; readonly program: Program }[];
  readonly labels: Program;
  readonly facts: Server;
  readonly account: Server;
  readonly artifacts: string;
  readonly archive: string;
  /** Ends all programs. Returns the exit codes other than 0, with the name of the program. */
  stop(): Promise<string[]>;
}

const wires: readonly Wire[] = [
  { name: 'current', protocol: 'current', args: [] },
  { name: 'legacy', protocol: 'legacy', args: [] },
];

/** Starts an instrument for each protocol of Jetstream, in its own directory. Resolves once they are connected. */
export async function startWeather(home: string, { jetstream }: Pick<Observed, 'jetstream'>) {
  const weather = wires.map((wire) => {
    const folder = join(home, `weather-${wire.name}`);
    mkdirSync(folder);
    const args = [...argsOf(wire, jetstream, folder), '--backfill-hours', '0', '--publish-seconds', '1'];
    const program = startProgram(args);
    killAtExit(program.child);
    return { wire, folder, program };
  });
  await Promise.all(weather.map(({ program }) => isReading(program)));
  return weather;
}

/**
 * Starts the label instrument and both services over the artifacts of the first weather instrument. The label instrument
 * knows no labeler: it has an empty seeds file.
 */
export async function startObservatory(
  home: string,
  { jetstream, relay, directory }: Observed,
  weather: Observatory['weather'],
): Promise<Observatory> {
  const artifacts = join(weather[0]?.folder ?? home, 'artifacts');
  const [seeds, store, archive] = [join(home, 'seeds.json'), `sqlite:${join(home, 'labels')}`, join(home, 'archive')];
  writeFileSync(seeds, '[]');
  const labels = startProgram([
    ...['labels', '--store', store, '--artifacts', artifacts, '--seeds', seeds, '--relay', relay, '--plc', directory],
    ...['--jetstream', jetstream, '--publish-seconds', '1', '--discovery-seconds', '5'],
    ...['--min-free-megabytes', '0', '--allow-loopback'],
  ]);
  killAtExit(labels.child);
  await labels.line(/^almanac labels observing$/);
  const facts = await startServer(['facts', '--port', '0', '--artifacts', artifacts]);
  const account = await startServer([
    ...['account', '--port', '0', '--store', store, '--data', join(home, 'account'), '--plc', directory],
    ...['--facts-url', facts.url, '--client-cost', '0'],
  ]);
  for (const { child } of [facts, account]) killAtExit(child);
  const programs = { labels, facts, account };
  return {
    ...{ weather, artifacts, archive, ...programs },
    async stop() {
      const ends = await Promise.all(
        Object.entries(programs).map(async ([name, program]) => ({ name, code: await program.stop() })),
      );
      return ends.filter(({ code }) => code !== 0).map(({ name, code }) => `almanac ${name} ended with ${code}`);
    },
  };
}
