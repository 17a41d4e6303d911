/**
 * Loaded into a process before anything else (`node --import`): its clocks run as a control file says. The wall clock
 * goes faster and may be stepped; the monotonic one goes as fast and knows no step. Timers and sockets are untouched.
 */
import { readFileSync, statSync } from 'node:fs';
import { type ClockSetting, simulatedMs } from './clock-setting.ts';

const path = process.env.SCALED_CLOCK ?? '';
const RealDate = globalThis.Date;
const realNow = RealDate.now.bind(RealDate);
/** How long a setting may be used without a look at the file, in real milliseconds. */
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
