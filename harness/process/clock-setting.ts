import { renameSync, writeFileSync } from 'node:fs';

/** Setting of a simulated clock. Times are in milliseconds since 1970. */
export interface ClockSetting {
  /** Real time at which the simulated time was `simulated`. */
  readonly real: number;
  readonly simulated: number;
  /** Simulated milliseconds per real millisecond. */
  readonly factor: number;
  /** Offset of the machine's wall clock from the simulated time, in milliseconds. */
  readonly stepMs: number;
}

/** Returns the simulated time at a real time. */
export function simulatedMs({ real, simulated, factor }: ClockSetting, realNow: number): number {
  return simulated + (realNow - real) * factor;
}

/** Clock of a simulation. It also applies to processes that load `scaled-clock.ts`. */
export interface SimulationClock {
  /** Returns the true simulated time, which the simulated network uses, in milliseconds since 1970. */
  now(): number;
  /** Changes the speed relative to real time. */
  run(factor: number): void;
  /** Sets the offset of the processes' wall clock from the true time; 0 makes the clock correct. */
  step(milliseconds: number): void;
  /** Environment variables that make a process use this clock. */
  readonly env: Readonly<Record<string, string>>;
}

/**
 * Creates a clock that starts at the current time and stands still until `run` is called. The file at `path` controls
 * it.
 */
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
