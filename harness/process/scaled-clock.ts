/**
 * Module for `node --import` that makes the clocks of the process follow a control file. The wall clock runs faster and
 * may be stepped; the monotonic clock runs at the same speed without steps. Timers and sockets are unchanged.
 */
import { readFileSync, statSync } from 'node:fs';
import { type ClockSetting, simulatedMs } from './clock-setting.ts';

const path = process.env.SCALED_CLOCK ?? '';
const RealDate = globalThis.Date;
const realNow = RealDate.now.bind(RealDate);
/** Maximum time for which a setting is used without reading the file, in real milliseconds. */
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
