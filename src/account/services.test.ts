import { expect, it } from 'vitest';
import { StoreError } from '../store/errors.ts';
import { StoreBusy } from './reading/reading-pool.ts';
import { createBehindWait, createServices, refusalOf } from './services.ts';

/** Creates the wait for a standby with a simulated clock that advances only during pauses. */
function simulated() {
  const time = { now: 1_000 };
  const pause = (ms: number): Promise<void> => {
    time.now += ms;
    return Promise.resolve();
  };
  return { time, wait: createBehindWait(() => time.now, pause) };
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
  await expect(wait(turn, present)).rejects.toMatchObject({ name: 'StoreBehind' });
  expect(time.now).toBe(1_000 + 2_000);
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
  const wait = createBehindWait(
    () => 0,
    () => new Promise((resolve) => resume.push(resolve)),
  );
  let isBehind = true;
  const turn = () => (isBehind ? behind() : Promise.resolve('rows'));
  const waiting = Array.from({ length: 16 }, () => wait(turn, present));
  await expect.poll(() => resume.length).toBe(16);
  await expect(wait(turn, present)).rejects.toMatchObject({ name: 'StoreBehind' });
  isBehind = false;
  for (const go of resume) go();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['rows']));
});

type Options = Parameters<typeof createServices>[0];

/** Creates the services over a store that is never busy. */
function servicesWith(options: Pick<Options, 'cost'> & Partial<Options>) {
  return createServices({
    reading: { run: (_turn: unknown, work: (store: never) => unknown) => work({} as never) } as never,
    ...{ cursors: {} as never, budget: {} as never, bounds: {} as never },
    ...{ clock: () => 0, monotonic: () => 0 },
    ...options,
  });
}

const requestOf = (client: string) => ({ client, gone: present, reserve: () => true, now: 0 });

it('a turn is repeated while the store is busy, even if 16 requests already wait for the allowances of their clients', async () => {
  const resume: (() => void)[] = [];
  const allowance = { spent: true };
  const { readPatiently } = servicesWith({
    cost: {
      waitFor: (client: string) => (client === 'spent' && allowance.spent ? 1 : null),
      charge: () => undefined,
    },
    pause: (ms) => (ms === 1_000 ? new Promise((resolve) => resume.push(resolve)) : Promise.resolve()),
  });
  const waiting = Array.from({ length: 16 }, () => readPatiently(requestOf('spent'), null, () => Promise.resolve(0)));
  await expect.poll(() => resume.length).toBe(16);
  let attempts = 0;
  const turn = () => {
    attempts += 1;
    return attempts < 5 ? Promise.reject(new StoreBusy('queue', 2)) : Promise.resolve('rows');
  };
  expect(await readPatiently(requestOf('other'), null, turn)).toBe('rows');
  allowance.spent = false;
  for (const go of resume) go();
  await Promise.all(waiting);
});

it('a request waits for an allowance for at most 50 s in all its turns, but without a limit while its response is sent', async () => {
  const time = { now: 0 };
  let refilledAt = 30_000;
  const { readPatiently, readWhileSending } = servicesWith({
    cost: { waitFor: () => (time.now < refilledAt ? 4 : null), charge: () => undefined },
    clock: () => time.now,
    pause: (ms) => {
      time.now += ms;
      return Promise.resolve();
    },
  });
  const turn = () => Promise.resolve(time.now);
  expect(await readPatiently(requestOf('one'), null, turn)).toBe(32_000);
  refilledAt = 90_000;
  await expect(readPatiently(requestOf('one'), null, turn)).rejects.toMatchObject({ name: 'BudgetSpent' });
  expect(time.now).toBe(48_000);
  expect(await readWhileSending(requestOf('one'), null, turn)).toBe(92_000);
});

/** Returns the error response for an error, and the errors that the operator is told about. */
function refused(error: unknown) {
  const alarms: unknown[] = [];
  return { refusal: refusalOf(error, (alarm) => alarms.push(alarm)), alarms };
}

it.each(['damaged', 'io_failed', 'misconfigured', 'unexpected'] as const)(
  'the store error %s is reported as store_busy and requires action by the operator',
  (code) => {
    const error = new StoreError(
      code,
      'days/2024-10-04.sealed.sqlite: block 7 of observation differs from what was sealed',
    );
    expect(refused(error)).toEqual({
      refusal: { code: 'store_busy', retryAfterSeconds: expect.any(Number) },
      alarms: [error],
    });
  },
);

it('the store error busy is reported as store_busy but requires no action by the operator', () => {
  const error = new StoreError('busy', 'another process holds a file');
  expect(refused(error)).toEqual({
    refusal: { code: 'store_busy', retryAfterSeconds: expect.any(Number) },
    alarms: [],
  });
});
