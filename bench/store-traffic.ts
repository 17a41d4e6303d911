/**
 * Labels with the network's measured distribution, determined by a seed.
 *
 * - 81 labelers emit labels. The largest 1, 3, 5, 10, 20 and 30 labelers emit 10.8, 32, 52, 84, 98 and 99.9 % of the
 *   rows.
 * - The k-th densest account has 165,000 * k^-0.685 rows in 30 days, for k up to 1,000 (the first has 165,000, the
 *   50th 11,300). The other rows are spread over eight million accounts.
 * - A dense account's rows of a day arrive in runs of at most 500 consecutive rows, one microsecond apart.
 * - 58 % of the labels are about posts (half of these labels have a cid), 40 % about accounts and 2 % about profiles.
 *   8 % are removals. The signatures are random bytes of the right length, because they are not checked.
 */

import { encodeBase32 } from '../src/store/label.ts';
import type { NewObservation } from '../src/store/port.ts';
import { day as dayLength, dayStart } from '../src/store/time.ts';

/** Number of rows of an ordinary day. */
export const rowsOfDay = 1_400_000;
/** Number of rows of the densest account in 30 days. */
const densestRows = 165_000;

const windowDays = 30;
const dense = 1_000;
const denseExponent = 0.685;
const accounts = 8_000_000;
const maxRun = 500;
const labelerCount = 81;

const shares = [10.8, 10.6, 10.6, 10, 10, 6.4, 6.4, 6.4, 6.4, 6.4].concat(
  Array.from({ length: 10 }, () => 1.4),
  Array.from({ length: 10 }, () => 0.19),
);

/** Returns a function that returns random 32-bit numbers, determined by the seed. */
export function randomOf(seed: number): () => number {
  let state = (seed * 2_654_435_761) >>> 0 || 1;
  return () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return state >>> 0;
  };
}

/** Returns the DID of an account or labeler. The decoded bytes of the DIDs ascend with the number. */
export function accountDid(n: number): string {
  const bytes = Buffer.alloc(15);
  bytes.writeUIntBE(n * 16_777_216 + ((n * 40_503) & 0xffff), 0, 6);
  const random = randomOf(n + 7);
  for (let i = 6; i < 15; i++) bytes[i] = random();
  return `did:plc:${encodeBase32(bytes)}`;
}

/** Returns the number of the k-th densest account. `k` starts at 1. */
export function denseAccount(k: number): number {
  return (k * 7_919) % accounts;
}

/** DIDs of the labelers of the generated rows. */
export const labelers = Array.from({ length: labelerCount }, (_, i) => accountDid(accounts + 1_000 * i));
const labelerOfDraw = labelersByDraw();

/** Accounts and acceptance times of a day's rows, in order of acceptance. */
export interface DayPlan {
  readonly day: number;
  readonly accounts: Uint32Array;
  /** Acceptance time of each row, in microseconds from the day's start, strictly increasing. */
  readonly offsets: Float64Array;
}

/** Creates the plan of a day with `rows` rows. */
export function planDay(day: number, rows = rowsOfDay): DayPlan {
  const random = randomOf(day);
  const owners = new Uint32Array(rows);
  const offsets = new Float64Array(rows);
  const runs: { account: number; length: number }[] = [];
  let planned = 0;
  for (let k = 1; k <= dense && planned < rows; k++) {
    let left = Math.round((densestRows * k ** -denseExponent * rows) / rowsOfDay / windowDays);
    while (left > 0) {
      const length = Math.min(left, maxRun, 1 + (random() % maxRun), rows - planned);
      if (length <= 0) break;
      runs.push({ account: denseAccount(k), length });
      left -= length;
      planned += length;
    }
  }
  while (planned++ < rows) runs.push({ account: random() % accounts, length: 1 });
  for (let i = runs.length - 1; i > 0; i--) {
    const j = random() % (i + 1);
    const [a, b] = [runs[i], runs[j]];
    if (a && b) [runs[i], runs[j]] = [b, a];
  }
  let at = 0;
  for (const run of runs) {
    const start = Math.floor((at / rows) * dayLength);
    for (let i = 0; i < run.length; i++, at++) {
      owners[at] = run.account;
      offsets[at] = Math.max(start + i, (offsets[at - 1] ?? -1) + 1);
    }
  }
  return { day, accounts: owners, offsets };
}

const signatures = Buffer.alloc(1 << 16);
const fill = randomOf(64);
for (let i = 0; i < signatures.length; i += 4) signatures.writeUInt32LE(fill(), i);

const alphabet = '234567abcdefghijklmnopqrstuvwxyz';

/** Returns the label of a row of a plan. */
export function labelOf(plan: DayPlan, row: number): NewObservation {
  const random = randomOf(plan.day * 4_000_000 + row + 1);
  const did = accountDid(plan.accounts[row] ?? 0);
  const labeler = labelerOfDraw[random() % labelerOfDraw.length] ?? 0;
  const kind = random() % 100;
  const signature = (random() % 1_000) * 65;
  const millis = dayStart(plan.day) / 1000 + Math.floor((plan.offsets[row] ?? 0) / 1000) - (random() % 60_000);
  const isPost = kind < 58;
  return {
    signature: 'verified',
    label: {
      ver: 1,
      src: labelers[labeler] ?? '',
      uri: isPost
        ? `at://${did}/app.bsky.feed.post/${tidOf(random(), row)}`
        : kind < 98
          ? did
          : `at://${did}/app.bsky.actor.profile/self`,
      ...(isPost && kind % 2 === 0 ? { cid: `bafyrei${cidTail(random)}` } : {}),
      val: `label-${labeler}-${random() % 10}`,
      ...(random() % 100 < 8 ? { neg: true } : labeler % 3 === 0 ? { neg: false } : {}),
      cts: new Date(millis).toISOString(),
      sig: signatures.subarray(signature, signature + 64),
    },
  };
}

function labelersByDraw(): Uint8Array {
  const draws = new Uint8Array(100_000);
  let at = 0;
  shares.forEach((share, labeler) => {
    draws.fill(labeler, at, at + Math.round(share * 1_000));
    at += Math.round(share * 1_000);
  });
  // Give the remaining labelers the last thousandth of the rows.
  const others = labelerCount - shares.length;
  for (let i = 0; at < draws.length; i++, at++) draws[at] = shares.length + (i % others);
  return draws;
}

function tidOf(random: number, row: number): string {
  let text = '3l';
  let value = random * 4_096 + (row % 4_096);
  for (let i = 0; i < 11; i++) {
    text += alphabet.charAt(value % 32);
    value = Math.floor(value / 32) + (i === 7 ? random : 0);
  }
  return text;
}

function cidTail(random: () => number): string {
  let text = '';
  while (text.length < 51) {
    for (let value = random(), i = 0; i < 6; i++, value >>>= 5) text += alphabet.charAt(value & 31);
  }
  // End with the character whose bits are all zero, because the unused bits must be zero.
  return `${text.slice(0, 51)}a`;
}
