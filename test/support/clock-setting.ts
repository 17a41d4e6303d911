import { renameSync, writeFileSync } from 'node:fs';

/** How a simulated clock runs; instants in milliseconds since 1970. */
export interface ClockSetting {
  /** At this real instant the simulated one was `simulated`. */
  readonly real: number;
  readonly simulated: number;
  /** Simulated milliseconds in a real one. */
  readonly factor: number;
  /** How far a machine's wall clock is set off the simulated time. */
  readonly stepMs: number;
}

/** The simulated time at a real instant. */
export function simulatedMs({ real, simulated, factor }: ClockSetting, realNow: number): number {
  return simulated + (realNow - real) * factor;
}

/** The clock of a simulation, and what the processes that are loaded with `scaled-clock.ts` go by. */
export interface SimulationClock {
  /** True simulated time, milliseconds since 1970: what the simulated network goes by. */
  now(): number;
  /** Runs so much faster than the real one from now on. */
  run(factor: number): void;
  /** Sets the wall clock of the processes off the truth; 0 puts it right. */
  step(milliseconds: number): void;
  /** Variables that make a process go by it. */
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a clock that stands still, from the present on, controlled through a file. */
export function simulationClock(path: string): SimulationClock {
  let setting: ClockSetting = { real: Date.now(), simulated: Date.now(), factor: 0, stepMs: 0 };
  const set = (changes: Partial<ClockSetting>): void => {
    const real = Date.now();
    setting = { ...setting, real, simulated: simulatedMs(setting, real), ...changes };
    writeFileSync(`${path}.new`, JSON.stringify(setting));
    renameSync(`${path}.new`, path);
  };
  set({});
  return {
    now: () => simulatedMs(setting, Date.now()),
    run: (factor) => set({ factor }),
    step: (stepMs) => set({ stepMs }),
    env: { SCALED_CLOCK: path, NODE_OPTIONS: `--import ${new URL('./scaled-clock.ts', import.meta.url).href}` },
  };
}
