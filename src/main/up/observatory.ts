import { closeSync, openSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileSource } from '../../artifact/file-source.ts';
import { recogniseLabels, recogniseWeather } from '../../artifact/recognise.ts';
import { artifactNames } from '../../artifact/write.ts';
import { defaultMaxArtifactBytes } from '../../contract/limits.ts';
import { makeFolder, OperatorError, systemWords } from '../../ops/errors.ts';
import { createLog, type Log, type LogLevel } from '../../ops/log.ts';
import type { TriedHost } from '../doctor/finding.ts';
import type { Running } from '../serve.ts';
import { readReport, type WeatherReport } from '../weather/weather-report.ts';
import { isUnanswered, plainDisplay, screenDisplay, showsScreen, statusOf } from './status.ts';
import { type Supervised, type SupervisedPart, supervise } from './supervisor.ts';

/** Interval between checks of the hosts during startup, in milliseconds. */
const checkMs = 250;
/** Interval between updates of the displayed state, in milliseconds. */
const lookMs = 1_000;

/** Options for an observatory. */
interface ObservatoryOptions {
  /** Name of the command: `up` or `demo`. */
  readonly name: string;
  /** Path of the data directory. */
  readonly data: string;
  /** Addresses of the Jetstream hosts, for messages. */
  readonly endpoints: readonly string[];
  /** Contacts each host of the network once, to find the hosts that do not respond. Never rejects. */
  readonly tryHosts: () => Promise<readonly TriedHost[]>;
  readonly parts: readonly SupervisedPart[];
  /** Returns the lines above the state. `urls` contains the URLs of the listening parts by name. */
  readonly remarks: (urls: ReadonlyMap<string, string>) => readonly string[];
  readonly print: (line: string) => void;
  readonly log: ObservatoryLog;
  /** Aborts if a signal arrives while the parts are starting. */
  readonly asked: AbortSignal;
}

/** Runs the parts of an observatory and shows their state. Rejects if a part cannot start or `asked` aborts first. */
export async function startObservatory(options: ObservatoryOptions): Promise<Running> {
  const { data, endpoints, parts, log, asked } = options;
  const artifacts = join(data, 'artifacts');
  makeFolder(artifacts);
  let report: WeatherReport | null = null;
  const startedAt = Date.now();
  const { weather, labels } = artifactSources(artifacts);
  const hosts = createHostCheck(options.tryHosts);
  // Check the hosts while the parts are still starting, which may take seconds, because an unreachable network must
  // be reported within ten seconds.
  const checkHosts = (): readonly TriedHost[] | null => {
    const now = Date.now();
    return hosts.look(isUnanswered({ report, labels: labels.read() }) ? now - startedAt : null, now);
  };
  const checking = setInterval(checkHosts, checkMs);
  const supervised = await supervise(parts, {
    log: log.log,
    stderr: log.stderr,
    onMessage: (part, message) => {
      if (part === 'weather') report = readReport(message) ?? report;
    },
    asked,
  })
    .finally(() => clearInterval(checking))
    .catch((error: unknown) => {
      // Copy the messages to stderr, because the log file may be deleted soon. Parts that a signal stops have no problem.
      for (const line of asked.aborted ? [] : log.messages()) process.stderr.write(`${line}\n`);
      throw error;
    });
  const display = openDisplay(options, supervised);
  const look = (): void => {
    const states = supervised.states();
    const isAlive = states.some((part) => part.name === 'weather' && part.state === 'running');
    const now = Date.now();
    if (!isAlive) report = null;
    const read = { weather: weather.read(), labels: labels.read(), report };
    display.show(statusOf({ ...read, now, startedAt, endpoints, parts: states, tried: checkHosts() }));
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

function artifactSources(folder: string) {
  const common = { maxBytes: defaultMaxArtifactBytes, clock: Date.now };
  return {
    weather: fileSource({ ...common, path: join(folder, artifactNames.weather), recognise: recogniseWeather }),
    labels: fileSource({ ...common, path: join(folder, artifactNames.labels), recognise: recogniseLabels }),
  };
}

/** Opens the screen, or prints the first plain lines. */
function openDisplay({ name, remarks, print, log }: ObservatoryOptions, { ready, urls }: Supervised) {
  if (log.screen) {
    const lines = [...remarks(urls), ...[...urls].map(([part, url]) => `${part.padEnd(9)}${url}`)];
    const file = log.file === null ? [] : [`log      ${log.file}`];
    return screenDisplay(process.stdout, ['', `almanac ${name}`, ...lines, ...file]);
  }
  for (const line of ready.values()) print(line);
  for (const remark of remarks(urls)) print(remark);
  const [first] = urls.values();
  print(`almanac ${name} ${first === undefined ? 'running' : `listening on ${first}`}`);
  return plainDisplay(print);
}

/** Time without any response after which every host is contacted for the first time, in milliseconds. */
const firstCheckMs = 2_000;
/** Interval between further checks while no host responds, in milliseconds. */
const repeatMs = 60_000;

/** Checks which hosts respond while no part of the network responds. */
interface HostCheck {
  /**
   * Returns the result of the last check, or null before the first check and while the network responds. `unansweredMs`
   * is the time without any response, or null if the network responds. `now` is in milliseconds.
   */
  look(unansweredMs: number | null, now: number): readonly TriedHost[] | null;
}

/** Creates the check; `tryHosts` contacts each host once and never rejects. */
export function createHostCheck(tryHosts: () => Promise<readonly TriedHost[]>): HostCheck {
  let tried: readonly TriedHost[] | null = null;
  let nextAt = Number.NEGATIVE_INFINITY;
  return {
    look(unansweredMs, now) {
      if (unansweredMs === null) {
        tried = null;
      } else if (unansweredMs >= firstCheckMs && now >= nextAt) {
        nextAt = now + repeatMs;
        void tryHosts().then((hosts) => {
          tried = hosts;
        });
      }
      return tried;
    },
  };
}

/** The log of an observatory and its parts. */
interface ObservatoryLog {
  readonly log: Log;
  /** True if the terminal shows a screen instead of plain lines. */
  readonly screen: boolean;
  /** Destination of the parts' stderr: inherited, or the descriptor of the log file. */
  readonly stderr: 'inherit' | number;
  /** Path of the log file, or null if the log goes to stderr. */
  readonly file: string | null;
  /**
   * Returns the plain-text messages that the parts have written since the log was opened. Returns an empty list if the
   * log is not a file.
   */
  messages(): string[];
  close(): void;
}

/**
 * Opens the log: on stderr, or in a file of the data directory if the terminal shows a screen. Throws OperatorError if
 * the directory cannot be used.
 */
export function openLog(
  name: string,
  level: LogLevel,
  data: string,
  env: Readonly<Record<string, string | undefined>>,
): ObservatoryLog {
  const screen = showsScreen(process.stdout.isTTY, env);
  if (!screen || !process.stderr.isTTY) {
    const noFile = { stderr: 'inherit', file: null, messages: () => [], close: () => undefined } as const;
    return { log: createLog(name, level), screen, ...noFile };
  }
  const file = join(data, 'almanac.log');
  makeFolder(data);
  try {
    // Truncate the file at each start. An operator who needs a permanent log redirects stderr.
    const fd = openSync(file, 'w');
    const messages = (): string[] =>
      readFileSync(file, 'utf8')
        .split('\n')
        .filter((line) => line.startsWith('almanac: '));
    return { log: createLog(name, level, fd), screen, stderr: fd, file, messages, close: () => closeSync(fd) };
  } catch (error) {
    throw new OperatorError(`cannot write ${file}: ${systemWords(error)}`);
  }
}
