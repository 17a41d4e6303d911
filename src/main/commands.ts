import { accountCommand } from './account.ts';
import { checkCommand } from './check.ts';
import type { Command } from './command.ts';
import { demoCommand } from './demo.ts';
import { doctorCommand } from './doctor.ts';
import { exportCommand } from './export.ts';
import { factsCommand } from './facts.ts';
import { labelsCommand } from './labels.ts';
import { simCommand } from './sim.ts';
import { upCommand } from './up.ts';
import { weatherCommand } from './weather.ts';

/** Every command, in the order of the help. */
export const commands = {
  up: upCommand,
  demo: demoCommand,
  facts: factsCommand,
  account: accountCommand,
  weather: weatherCommand,
  labels: labelsCommand,
  export: exportCommand,
  check: checkCommand,
  doctor: doctorCommand,
  sim: simCommand,
} as const satisfies Record<string, Command>;

/** A command's name. */
export type CommandName = keyof typeof commands;

/** The names of all commands. */
export const commandNames = Object.keys(commands) as CommandName[];

/** The flags of all commands: what a variable or a config file may name, whichever command reads it. */
export const knownFlags: readonly string[] = [
  ...new Set(Object.values(commands).flatMap(({ settings }) => Object.values(settings).map(({ flag }) => flag))),
];
