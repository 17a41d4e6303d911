import { expect, onTestFinished, test, vi } from 'vitest';
import { type Claim, createSlots, type Release, type SlotLimits, type Slots } from './slots.ts';

const signal = new AbortController().signal;

function slotsOf(limits: Partial<SlotLimits>) {
  const time = { ms: 0 };
  const slots = createSlots({ total: 4, perHost: 4, maxWaiting: 100, ...limits }, () => time.ms);
  return { slots, time };
}

async function take(slots: Slots, claim: Claim): Promise<Release> {
  const slot = await slots.acquire(claim, 0, signal);
  if (typeof slot === 'string') throw new Error(slot);
  return slot;
}

/** Makes a claim without waiting, and releases a granted slot at once. Returns true if the claim was granted. */
async function isServed(slots: Slots, claim: Claim): Promise<boolean> {
  const slot = await slots.acquire(claim, 0, signal);
  if (typeof slot === 'string') return false;
  slot();
  return true;
}

/** Requests a slot for each claim, keeps every granted slot, and records the order in which slots are granted. */
function queue(slots: Slots, claims: readonly Claim[]) {
  const served: string[] = [];
  const held: Release[] = [];
  for (const claim of claims) {
    void slots.acquire(claim, 60_000, signal).then((slot) => {
      if (typeof slot === 'string') return;
      served.push(claim.host);
      held.push(slot);
    });
  }
  return { served, held };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

test('waiting domains take turns, regardless of how many claims each domain has', async () => {
  const { slots } = slotsOf({ total: 1 });
  const first = await take(slots, { host: 'x.example' });
  const crowd = Array.from({ length: 5 }, (_, i) => ({ host: `l${i}.crowd.example` }));
  const { served, held } = queue(slots, [...crowd, { host: 'one.example' }, { host: 'two.example' }]);
  first();
  for (let i = 0; i < 6; i++) {
    await turn();
    held[i]?.();
  }
  await turn();
  expect(served.slice(0, 4)).toEqual(['l0.crowd.example', 'one.example', 'two.example', 'l1.crowd.example']);
  expect(served).toHaveLength(7);
});

test('one registrable domain gets at most its share of the slots, regardless of the number of hosts', async () => {
  const { slots } = slotsOf({ perDomain: 2 });
  await take(slots, { host: 'a.crowd.example' });
  await take(slots, { host: 'b.crowd.example' });
  expect(await isServed(slots, { host: 'c.crowd.example' })).toBe(false);
  expect(await isServed(slots, { host: 'c.other.example' })).toBe(true);
});

test('unprivileged claims get few slots of one host, regardless of the port, and privileged claims get all slots of the host', async () => {
  const { slots } = slotsOf({ total: 100, perHost: 32, perNewHost: 2 });
  await take(slots, { host: 'l.example', source: 'did:plc:a' });
  const second = await take(slots, { host: 'l.example:8443', source: 'did:plc:b' });
  expect(await isServed(slots, { host: 'l.example', source: 'did:plc:c' })).toBe(false);
  expect(await isServed(slots, { host: 'l.example.:444', source: 'did:plc:c' })).toBe(false);
  expect(await isServed(slots, { host: 'other.example', source: 'did:plc:c' })).toBe(true);
  for (let i = 0; i < 32; i++) await take(slots, { host: 'l.example', privileged: true });
  expect(await isServed(slots, { host: 'l.example', privileged: true })).toBe(false);
  second();
  expect(await isServed(slots, { host: 'l.example', source: 'did:plc:c' })).toBe(true);
});

test('unprivileged claims get few slots of one domain, and privileged claims get all of its slots', async () => {
  const { slots } = slotsOf({ total: 100, perDomain: 8, perNewDomain: 2 });
  await take(slots, { host: 'a.crowd.example' });
  await take(slots, { host: 'b.crowd.example' });
  expect(await isServed(slots, { host: 'c.crowd.example' })).toBe(false);
  for (let i = 0; i < 8; i++) await take(slots, { host: `l${i}.crowd.example`, privileged: true });
  expect(await isServed(slots, { host: 'c.crowd.example', privileged: true })).toBe(false);
});

test('one source gets at most its share of the slots, regardless of the number of hosts', async () => {
  const { slots } = slotsOf({ perSource: 1 });
  await take(slots, { host: 'a.example', source: 'did:plc:a' });
  expect(await isServed(slots, { host: 'b.example', source: 'did:plc:a' })).toBe(false);
  expect(await isServed(slots, { host: 'b.example', source: 'did:plc:b' })).toBe(true);
});

test('reserved slots are granted only to privileged claims, which are also served first when any slot is free', async () => {
  const { slots } = slotsOf({ reserved: 2 });
  const strangers = [await take(slots, { host: 'a.example' }), await take(slots, { host: 'b.example' })];
  expect(await isServed(slots, { host: 'c.example' })).toBe(false);
  const seeds = [
    await take(slots, { host: 's1.example', privileged: true }),
    await take(slots, { host: 's2.example', privileged: true }),
  ];
  const { served } = queue(slots, [{ host: 'c.example' }, { host: 's3.example', privileged: true }]);
  strangers[0]?.();
  await turn();
  expect(served).toEqual(['s3.example']);
  strangers[1]?.();
  seeds[0]?.();
  await turn();
  expect(served).toEqual(['s3.example', 'c.example']);
});

test('unprivileged claims for the host of a privileged source do not use up the slots of that source', async () => {
  const { slots } = slotsOf({ perHost: 1, perDomain: 1 });
  await take(slots, { host: 'honest.example', source: 'did:plc:stranger' });
  expect(await isServed(slots, { host: 'honest.example', source: 'did:plc:other' })).toBe(false);
  expect(await isServed(slots, { host: 'honest.example', source: 'did:plc:seed', privileged: true })).toBe(true);
});

test('hosts that never responded or respond slowly share a few slots, and a host with a quick response can use all slots again', async () => {
  const { slots, time } = slotsOf({ total: 8, unproven: 1 });
  const unknown = await take(slots, { host: 'a.example' });
  expect(await isServed(slots, { host: 'b.example' })).toBe(false);
  time.ms += 100;
  unknown(true);
  const quick = [await take(slots, { host: 'a.example' }), await take(slots, { host: 'a.example' })];
  expect(await isServed(slots, { host: 'b.example' })).toBe(true);
  time.ms += 28_000;
  for (const release of quick) release(true);
  await take(slots, { host: 'a.example' });
  expect(await isServed(slots, { host: 'a.example' })).toBe(false);
});

test('a privileged source on a slow host competes with other slow hosts until its host is quick again', async () => {
  const { slots, time } = slotsOf({ total: 8, slowPrivileged: 1 });
  const claim = { host: 'seed.example', privileged: true };
  const ask = async (ms: number): Promise<void> => {
    const slot = await take(slots, claim);
    time.ms += ms;
    slot(true);
  };
  await ask(28_000);
  const slow = await take(slots, claim);
  expect(await isServed(slots, claim)).toBe(false);
  expect(await isServed(slots, { host: 'other.example', privileged: true })).toBe(true);
  slow(true);
  for (let i = 0; i < 3; i++) await ask(100);
  await take(slots, claim);
  expect(await isServed(slots, claim)).toBe(true);
});

test('hosts that each hold a slot for 28 s do not delay other sources, even if there are 150 of them', async () => {
  const { slots, time } = slotsOf({ total: 128, perHost: 4, reserved: 64, unproven: 24, slowPrivileged: 32 });
  const hosts = Array.from({ length: 150 }, (_, i) => ({ host: `l${i}.hostile${i % 40}.example` }));
  const first = queue(slots, hosts);
  await turn();
  expect(first.held).toHaveLength(24);
  expect(await isServed(slots, { host: 'seed.example', privileged: true })).toBe(true);
  for (let round = 0; round < 7; round++) {
    time.ms += 28_000;
    for (const release of first.held.splice(0)) release(true);
    await turn();
  }
  const newcomer = await slots.acquire({ host: 'new.example' }, 0, signal);
  expect(newcomer).toBeTypeOf('function');
});

test('claims above the maximum number of waiting claims are rejected, with a separate count for privileged claims', async () => {
  const { slots } = slotsOf({ total: 1, maxWaiting: 1 });
  const held = await take(slots, { host: 'x.example' });
  const stop = new AbortController();
  const waiting = slots.acquire({ host: 'a.example' }, 60_000, stop.signal);
  expect(await slots.acquire({ host: 'b.example' }, 60_000, signal)).toBe('busy');
  const seed = slots.acquire({ host: 's.example', privileged: true }, 60_000, signal);
  stop.abort();
  expect(await waiting).toBe('aborted');
  held();
  expect(await seed).toBeTypeOf('function');
});

test('a slot that is released twice becomes free once', async () => {
  const { slots } = slotsOf({ total: 1 });
  const slot = await take(slots, { host: 'a.example' });
  slot();
  slot();
  await take(slots, { host: 'b.example' });
  expect(await isServed(slots, { host: 'c.example' })).toBe(false);
});

test('a claim that is aborted leaves the queue, and the next claim gets the free slot', async () => {
  const { slots } = slotsOf({ total: 1, maxWaiting: 2 });
  const first = await take(slots, { host: 'a.example' });
  const over = new AbortController();
  const gaveUp = slots.acquire({ host: 'b.example' }, 60_000, over.signal);
  const tooLate = slots.acquire({ host: 'b.example' }, 1, signal);
  expect(await slots.acquire({ host: 'b.example' }, 60_000, signal)).toBe('busy');
  over.abort();
  expect([await gaveUp, await tooLate]).toEqual(['aborted', 'busy']);
  const { served, held } = queue(slots, [{ host: 'b.example' }, { host: 'c.example' }]);
  first();
  await turn();
  expect(served).toEqual(['b.example']);
  held[0]?.();
  await turn();
  expect(served).toEqual(['b.example', 'c.example']);
  expect(await slots.acquire({ host: 'd.example' }, 0, over.signal)).toBe('aborted');
});

test('releasing a slot also frees the shares of its host, domain and source', async () => {
  const { slots } = slotsOf({ perHost: 1, perDomain: 1, perSource: 1 });
  for (let i = 0; i < 3; i++) {
    const slot = await take(slots, { host: 'a.example', source: 'did:web:a.example' });
    expect(await isServed(slots, { host: 'a.example' })).toBe(false);
    slot(i === 1);
  }
});

test('unprivileged claims for one host share a rate limit, regardless of the port and spelling of the host, and privileged claims do not use up the limit', async () => {
  const { slots, time } = slotsOf({ hostRate: { perSecond: 2, burst: 3 } });
  const spellings = ['mod.example', 'mod.example:8443', 'mod.example.'];
  for (const host of spellings) expect(await isServed(slots, { host })).toBe(true);
  for (const host of spellings) expect(await isServed(slots, { host })).toBe(false);
  for (let i = 0; i < 5; i++) expect(await isServed(slots, { host: 'mod.example', privileged: true })).toBe(true);
  expect(await isServed(slots, { host: 'other.example' })).toBe(true);
  time.ms += 500;
  expect(await isServed(slots, { host: 'mod.example' })).toBe(true);
  expect(await isServed(slots, { host: 'mod.example' })).toBe(false);
});

test('a claim that waits for the rate limit of its host is granted as soon as the limit allows it, even if no slot is released', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const slots = createSlots({ total: 4, perHost: 4, maxWaiting: 100, hostRate: { perSecond: 50, burst: 1 } });
  const begun = performance.now();
  const grantedAt: number[] = [];
  for (let i = 0; i < 6; i++) {
    void slots.acquire({ host: 'mod.example' }, 5_000, signal).then((slot) => {
      grantedAt.push(performance.now() - begun);
      if (typeof slot !== 'string') slot();
    });
  }
  await vi.advanceTimersByTimeAsync(1_000);
  expect(grantedAt).toEqual([0, 20, 40, 60, 80, 100]);
});

test('the rate limit of a host stays used up after claims for a thousand other hosts', async () => {
  const { slots } = slotsOf({ hostRate: { perSecond: 1, burst: 2 } });
  for (let i = 0; i < 2; i++) expect(await isServed(slots, { host: 'mod.example' })).toBe(true);
  for (let i = 0; i < 1_000; i++) await isServed(slots, { host: `h${i}.example` });
  expect(await isServed(slots, { host: 'mod.example' })).toBe(false);
});

/**
 * Returns the least processor time that three runs of `work` take, in milliseconds. The first run also compiles the
 * code, which takes most of the time and, on a slow machine, a multiple of it.
 */
async function leastCpuMs(work: () => Promise<void>): Promise<number> {
  const times: number[] = [];
  for (let run = 0; run < 3; run++) {
    const begun = process.cpuUsage();
    await work();
    const { user, system } = process.cpuUsage(begun);
    times.push((user + system) / 1_000);
  }
  return Math.min(...times);
}

test('claims for other hosts take little processor time while many claims wait for a hanging host and for the rate limit of a host', async () => {
  const slots = createSlots({ total: 64, perHost: 1, maxWaiting: 4_000, hostRate: { perSecond: 0.001, burst: 1 } });
  const stop = new AbortController();
  const hosts = ['hangs.example', 'busy.example'];
  await take(slots, { host: 'hangs.example' });
  (await take(slots, { host: 'busy.example' }))();
  const waiting = Array.from({ length: 4_000 }, (_, i) =>
    slots.acquire({ host: hosts[i % 2] ?? '', source: `l${i}` }, 60_000, stop.signal),
  );
  const serve = async (): Promise<void> => {
    for (let i = 0; i < 2_000; i++) (await take(slots, { host: `h${i % 50}.example`, privileged: true }))();
  };
  expect(await leastCpuMs(serve)).toBeLessThan(200);
  stop.abort();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['aborted']));
});

test('claims for other domains take little processor time while many hosts wait for a share of their domain', async () => {
  const slots = createSlots({ total: 64, perHost: 1, perDomain: 1, maxWaiting: 4_000 });
  const stop = new AbortController();
  await take(slots, { host: 'first.full.example' });
  const waiting = Array.from({ length: 4_000 }, (_, i) =>
    slots.acquire({ host: `h${i}.full.example` }, 60_000, stop.signal),
  );
  const serve = async (): Promise<void> => {
    for (let i = 0; i < 2_000; i++) (await take(slots, { host: `h${i % 50}.other.example`, privileged: true }))();
  };
  // Visiting each waiting host at each release would take seconds.
  expect(await leastCpuMs(serve)).toBeLessThan(500);
  stop.abort();
  expect(new Set(await Promise.all(waiting))).toEqual(new Set(['aborted']));
});
