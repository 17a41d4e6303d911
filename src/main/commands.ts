import { accountCommand } from './account/account.ts';
import { archiveCommand } from './archive/archive.ts';
import { checkCommand } from './check/check.ts';
import type { Command } from './command.ts';
import { demoCommand } from './demo/demo.ts';
import { doctorCommand } from './doctor/doctor.ts';
import { exportCommand } from './export/export.ts';
import { factsCommand } from './facts/facts.ts';
import { labelerCommand } from './labeler/labeler.ts';
import { labelsCommand } from './labels/labels.ts';
import { simCommand } from './sim/sim.ts';
import { storeCommand } from './store/store.ts';
import { upCommand } from './up/up.ts';
import { weatherCommand } from './weather/weather.ts';

/** Every command, in the order of the help. */
export const commands = {
  up: upCommand,
  demo: demoCommand,
  facts: factsCommand,
  account: accountCommand,
  weather: weatherCommand,
  labels: labelsCommand,
  labeler: labelerCommand,
  export: exportCommand,
  archive: archiveCommand,
  check: checkCommand,
  doctor: doctorCommand,
  store: storeCommand,
  sim: simCommand,
} as const satisfies Record<string, Command>;

/** Name of a command. */
type CommandName = keyof typeof commands;

/** Names of all commands. */
export const commandNames = Object.keys(commands) as CommandName[];

/**
 * Flags of all commands. Variables and the config file may set any of these flags, regardless of the command that
 * runs.
 */
export const knownFlags: readonly string[] = [
  ...new Set(Object.values(commands).flatMap(({ settings }) => Object.values(settings).map(({ flag }) => flag))),
];
