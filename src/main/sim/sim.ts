import type { Sim, SimAddresses } from '../../../sim/index.ts';
import { OperatorError, systemCode, systemWords } from '../../ops/errors.ts';
import { createLog, logLevels } from '../../ops/log.ts';
import { firstSignal, stopInTime } from '../../ops/process.ts';
import { choice, integer, number, optionalText, text, toggle, type Values } from '../../ops/setting.ts';
import type { Command } from '../command.ts';

/** Settings of `almanac sim`. */
const simSettings = {
  seed: integer(
    'seed',
    'N',
    1,
    { min: 0, max: 2 ** 31 - 1 },
    'seed of the simulation; the same seed gives the same traffic',
  ),
  labelers: integer(
    'labelers',
    'N',
    0,
    { min: 0, max: 5000 },
    'number of simulated labelers, with the faults that are common on the network',
  ),
  rate: integer('rate', 'EVENTS_PER_S', 330, { min: 1, max: 100_000 }, 'mean number of events per second over a day'),
  labelRate: number(
    'label-rate',
    'LABELS_PER_S',
    20,
    { min: 0, max: 10_000 },
    'number of labels per second from all labelers together',
  ),
  historyHours: integer('history-hours', 'N', 24, { min: 0, max: 24 * 60 }, 'how far back in time a replay can start'),
  cacheMegabytes: integer(
    'cache-megabytes',
    'N',
    32,
    { min: 1, max: 16_000 },
    'memory for encoded events; a replay of events outside it encodes them again',
  ),
  labelHistory: optionalText(
    'label-history',
    'URL',
    'fill this new store, sqlite:DIR, with the data of an instrument that observed the simulated history, and then ' +
      'print sample accounts',
  ),
  replay: optionalText('replay', 'FILE', 'file of recorded frames, one per line, to serve instead of generated ones'),
  host: text('host', 'HOST', '127.0.0.1', 'address to listen on'),
  jetstreamPort: integer(
    'jetstream-port',
    'PORT',
    0,
    { min: 0, max: 65_535 },
    'port of the Jetstream host; 0 selects a free port',
  ),
  seqCursors: toggle('seq-cursors', 'send sequence numbers in frames, as version 2 of Jetstream does'),
  logLevel: choice('log-level', logLevels, 'info', 'minimum level of the log on stderr'),
};

/** `almanac sim`: the simulated network without an observatory. */
export const simCommand: Command<typeof simSettings> = {
  summary: 'the simulated network alone, on loopback',
  operands: '',
  settings: simSettings,
  async run(values, { print }) {
    const log = createLog('sim', values.logLevel);
    const sim = await createFrom(values);
    // A signal that arrives during startup is handled once startup is complete.
    const asked = new AbortController();
    const stop = firstSignal().then(() => asked.abort());
    const addresses = await sim.start().catch((error: unknown) => {
      throw new OperatorError(
        `cannot listen on ${values.host}:${values.jetstreamPort}: ${systemWords(error)}; ` +
          'choose another address with --host and --jetstream-port',
      );
    });
    print(announcement(addresses));
    log.info('listening', { host: values.host, seed: values.seed, rate: values.rate });
    if (values.labelHistory !== null) {
      const { writeNewHistory } = await import('./label-history.ts');
      const accounts = await writeNewHistory(sim, values.labelHistory, asked.signal);
      if (accounts === null) log.warn('the label history is incomplete, because a signal stopped the process');
      else print(JSON.stringify({ accounts }));
    }
    await stop;
    await stopInTime(() => sim.stop());
    log.info('stopped');
    return 0;
  },
};

/**
 * Creates the simulated network. Loads its module on demand, because most commands do not need it. Rejects with
 * OperatorError if the recorded frames cannot be read.
 */
async function createFrom(values: Values<typeof simSettings>): Promise<Sim> {
  const { createSim } = await import('../../../sim/index.ts');
  const { replay, ...settings } = values;
  try {
    return createSim({
      ...settings,
      port: settings.jetstreamPort,
      population: 'troubled',
      relays: 1,
      ...(replay === null ? {} : { replay }),
    });
  } catch (error) {
    const code = systemCode(error);
    if (code === null || replay === null) throw error;
    throw new OperatorError(
      `cannot read the recorded frames ${replay}: ${systemWords(error)}; choose another file with --replay`,
    );
  }
}

/** Returns the first line on stdout: the addresses of the simulated network's parts, with null for each absent part. */
function announcement({ jetstream, plc, relays, labelers, seeds }: SimAddresses): string {
  return JSON.stringify({ jetstream, plc, relay: relays[0] ?? null, labelers, seeds });
}
