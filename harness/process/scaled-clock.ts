/**
 * Module for `node --import` that makes the clocks of the process follow a control file. The wall clock runs faster
 * and may be stepped; the monotonic clock runs at the same speed without steps. Sockets are unaffected. Timers are
 * unaffected unless `SCALED_TIMERS` is set: the delay of a timer then elapses at the current speed of the simulated
 * clock.
 */
import { readFileSync, statSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import timers from 'node:timers';
import timersPromises from 'node:timers/promises';
import { type ClockSetting, simulatedMs } from './clock-setting.ts';

const path = process.env.SCALED_CLOCK ?? '';
const RealDate = globalThis.Date;
const realNow = RealDate.now.bind(RealDate);
/** Maximum time for which a setting is reused without reading the file, in real milliseconds. */
const lookMs = 5;

let setting: ClockSetting = read();
let lookedAt = realNow();
let stamp = 0;

function read(): ClockSetting {
  return JSON.parse(readFileSync(path, 'utf8')) as ClockSetting;
}

function current(): { readonly real: number; readonly setting: ClockSetting } {
  const real = realNow();
  if (real - lookedAt >= lookMs) {
    lookedAt = real;
    const changed = statSync(path).mtimeMs;
    if (changed !== stamp) {
      stamp = changed;
      setting = read();
    }
  }
  return { real, setting };
}

function wallMs(): number {
  const now = current();
  return Math.floor(simulatedMs(now.setting, now.real) + now.setting.stepMs);
}

class ScaledDate extends RealDate {
  constructor(...given: unknown[]) {
    if (given.length === 0) super(wallMs());
    else super(...(given as [number]));
  }

  static override now(): number {
    return wallMs();
  }
}

globalThis.Date = ScaledDate as DateConstructor;
const origin = simulatedMs(setting, realNow());
globalThis.performance.now = () => {
  const now = current();
  return simulatedMs(now.setting, now.real) - origin;
};

/** Converts the requested delay of a timer to real milliseconds. */
function realDelay(ms: number | undefined): number {
  const { factor } = current().setting;
  return factor > 0 ? (ms ?? 0) / factor : (ms ?? 0);
}

if (process.env.SCALED_TIMERS !== undefined) {
  const { setTimeout: after, setInterval: every } = globalThis;
  const scaled = {
    setTimeout: Object.assign(
      (done: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) => after(done, realDelay(ms), ...given),
      after,
    ),
    setInterval: (done: (...given: unknown[]) => void, ms?: number, ...given: unknown[]) =>
      every(done, realDelay(ms), ...given),
  };
  Object.assign(globalThis, scaled);
  Object.assign(timers, scaled);
  const { setTimeout: wait } = timersPromises;
  Object.assign(timersPromises, {
    setTimeout: (ms?: number, value?: unknown, options?: object) => wait(realDelay(ms), value, options),
  });
  syncBuiltinESMExports();
}
