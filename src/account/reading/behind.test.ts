import { expect, it } from 'vitest';
import { StoreError } from '../../store/errors.ts';
import { createBehindWait, maxBehindMs, StoreBehind } from './behind.ts';
import { StoreBusy } from './reading-pool.ts';

/** Creates a `BehindWait` with a simulated clock that advances only during pauses. */
function simulated() {
  const time = { now: 1_000 };
  const pause = (ms: number): Promise<void> => {
    time.now += ms;
    return Promise.resolve();
  };
  return { time, wait: createBehindWait({ clock: () => time.now, pause }) };
}

const behind = (): Promise<never> => Promise.reject(new StoreError('behind', 'not yet'));
const present = new AbortController().signal;

it('a request waits for a standby for at most two seconds, and makes fewer than 12 attempts', async () => {
  const { time, wait } = simulated();
  let attempts = 0;
  const turn = () => {
    attempts += 1;
    return behind();
  };
  await expect(wait(turn, present)).rejects.toBeInstanceOf(StoreBehind);
  expect(time.now).toBe(1_000 + maxBehindMs);
  expect(attempts).toBeLessThan(12);
});

it('a request succeeds as soon as the standby has received the data up to the requested end', async () => {
  const { time, wait } = simulated();
  expect(await wait(() => (time.now < 1_300 ? behind() : Promise.resolve('rows')), present)).toBe('rows');
  expect(time.now).toBeLessThan(1_600);
});

it('a request fails at once on a store error other than `behind`', async () => {
  const { time, wait } = simulated();
  await expect(wait(() => Promise.reject(new StoreError('busy', 'locked')), present)).rejects.toMatchObject({
    code: 'busy',
  });
  expect(time.now).toBe(1_000);
});

it('a request stops waiting when its client disconnects', async () => {
  const gone = new AbortController();
  const { wait } = simulated();
  const turn = () => {
    gone.abort();
    return behind();
  };
  await expect(wait(turn, gone.signal)).rejects.toBeInstanceOf(StoreBusy);
});

it('requests beyond the maximum number of waiting requests are refused at once', async () => {
  const resume: (() => void)[] = [];
  const wait = createBehindWait({ clock: () => 0, pause: () => new Promise((resolve) => resume.push(resolve)) });
  let isBehind = true;
  const turn = () => (isBehind ? behind() : Promise.resolve('rows'));
  const waiting = Array.from({ length: 16 }, () => wait(turn, present));
  await expect.poll(() => resume.length).toBe(16);
  await expect(wait(turn, present)).rejects.toBeInstanceOf(StoreBehind);
  isBehind = false;
  for (const go of resume) go();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['rows']));
});
