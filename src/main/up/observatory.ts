import { join } from 'node:path';
import { fileSource } from '../../artifact/file-source.ts';
import { recogniseLabels, recogniseWeather } from '../../artifact/recognise.ts';
import { artifactNames } from '../../artifact/write.ts';
import { defaultMaxArtifactBytes } from '../../contract/limits.ts';
import { makeFolder } from '../../ops/folder.ts';
import type { Running } from '../serve.ts';
import { readReport, type WeatherReport } from '../weather/weather-report.ts';
import type { ObservatoryLog } from './observatory-log.ts';
import { listeningAt } from './observatory-parts.ts';
import { type Display, plainDisplay, screenDisplay } from './screen.ts';
import { statusOf } from './status.ts';
import { type SupervisedPart, supervise } from './supervisor.ts';

/** Interval between checks of the state, in milliseconds. */
const lookMs = 1_000;

/** Options of an observatory. */
export interface ObservatoryOptions {
  /** `up` or `demo`. */
  readonly name: string;
  /** Directory of all data. */
  readonly data: string;
  /** Address of the Jetstream host, for messages. */
  readonly endpoint: string;
  readonly parts: readonly SupervisedPart[];
  /** Lines above the state, with the URLs of the listening parts by name. */
  readonly remarks: (urls: ReadonlyMap<string, string>) => readonly string[];
  /** True for a screen in the terminal instead of plain lines. */
  readonly screen: boolean;
  readonly print: (line: string) => void;
  readonly log: ObservatoryLog;
}

/** Runs the parts of an observatory and shows their state. */
export async function startObservatory(options: ObservatoryOptions): Promise<Running> {
  const { name, data, endpoint, parts, screen, print, log } = options;
  const artifacts = join(data, 'artifacts');
  makeFolder(artifacts);
  let report: WeatherReport | null = null;
  const startedAt = Date.now();
  const supervised = await supervise(parts, {
    log: log.log,
    stderr: log.stderr,
    onMessage: (part, message) => {
      if (part === 'weather') report = readReport(message) ?? report;
    },
  }).catch((error: unknown) => {
    // The reason for a failed start is only in the log file, which may be deleted soon.
    for (const line of log.messages()) process.stderr.write(`${line}\n`);
    throw error;
  });
  const addresses = [...supervised.ready].flatMap(([part, line]) => addressOf(part, line));
  const remarks = options.remarks(new Map(addresses.map(({ part, url }) => [part, url])));
  const head = [...remarks, ...addresses.map(({ part, url }) => `${part.padEnd(9)}${url}`)];
  const display: Display = screen
    ? screenDisplay(process.stdout, [
        '',
        `almanac ${name}`,
        ...head,
        ...(log.file === null ? [] : [`log      ${log.file}`]),
      ])
    : plainDisplay(print);
  if (!screen) {
    for (const line of supervised.ready.values()) print(line);
    for (const remark of remarks) print(remark);
    print(`almanac ${name} ${addresses[0] ? `listening on ${addresses[0].url}` : 'running'}`);
  }
  const common = { maxBytes: defaultMaxArtifactBytes, clock: Date.now };
  const weather = fileSource({ ...common, path: join(artifacts, artifactNames.weather), recognise: recogniseWeather });
  const labels = fileSource({ ...common, path: join(artifacts, artifactNames.labels), recognise: recogniseLabels });
  const look = (): void => {
    const states = supervised.states();
    const alive = states.some((part) => part.name === 'weather' && part.state === 'running');
    display.show(
      statusOf({
        now: Date.now(),
        startedAt,
        endpoint,
        weather: weather.read(),
        labels: labels.read(),
        report: alive ? report : null,
        parts: states,
      }),
    );
  };
  look();
  const looking = setInterval(look, lookMs);
  return {
    async stop() {
      clearInterval(looking);
      await supervised.stop();
    },
  };
}

function addressOf(part: string, line: string): { part: string; url: string }[] {
  const url = listeningAt(line);
  return url === null ? [] : [{ part, url }];
}
