import { base32, sortable } from './identifiers.ts';

const zero = 0x30;

/** Codes of the slots in compiled templates. */
const slotActor = 1;
const slotSubject = 2;
const slotTime = 3;
const slotSeq = 4;
const slotRev = 5;
const slotRkey = 6;
const slotCreated = 7;
const slotIso = 9;

/**
 * Writes the variable parts of frames. The stamper keeps the digits of the current event, so that it need not allocate
 * memory. It is not reentrant.
 */
export class Stamper {
  readonly #accounts: Uint8Array;
  readonly #accountCount: number;
  readonly #time = new Uint8Array(16);
  readonly #seq = new Uint8Array(15);
  readonly #tid = new Uint8Array(13);
  #created = new Uint8Array(24);
  #iso = new Uint8Array(27);
  #second = -1;
  readonly #base32 = Buffer.from(base32);
  readonly #sortable = Buffer.from(sortable);

  /** `accounts` contains 24 characters of did:plc for each account, concatenated. */
  constructor(accounts: Uint8Array) {
    this.#accounts = accounts;
    this.#accountCount = accounts.length / 24;
  }

  /** Sets the digits that all events of one UTC second share. */
  second(second: number): void {
    this.#second = second;
    this.#iso = Buffer.from(new Date(second * 1000).toISOString().replace('Z', '000Z'));
    this.#time.set(Buffer.from(String(second).padStart(10, '0')));
    this.#created = Buffer.from(new Date((second - 1) * 1000).toISOString());
  }

  /** Stamps one frame at offset `at` in `target`. `random` and `more` are 32 random bits each. */
  stamp(
    target: Uint8Array,
    at: number,
    slots: Uint32Array,
    timeUs: number,
    seq: number,
    random: number,
    more: number,
  ): void {
    this.#setTime(timeUs);
    let tidFor = 0;
    for (let next = 0; next < slots.length; next += 2) {
      const place = at + (slots[next + 1] ?? 0);
      switch (slots[next]) {
        case slotActor:
          this.#account(target, place, random);
          break;
        case slotSubject:
          this.#account(target, place, more);
          break;
        case slotTime:
          copy(this.#time, target, place, 16);
          break;
        case slotSeq:
          digits(this.#seq, 0, 15, seq);
          copy(this.#seq, target, place, 15);
          break;
        case slotRev:
          if (tidFor !== slotRev) this.#setTid(timeUs, random);
          tidFor = slotRev;
          copy(this.#tid, target, place, 13);
          break;
        case slotRkey:
          if (tidFor !== slotRkey) this.#setTid(timeUs - 1000 - (more & 0xfff), random);
          tidFor = slotRkey;
          copy(this.#tid, target, place, 13);
          break;
        case slotCreated:
          digits(this.#created, 20, 3, more % 1000);
          copy(this.#created, target, place, 24);
          break;
        case slotIso:
          copy(this.#iso, target, place, 27);
          break;
        default:
          this.#cid(target, place, random ^ more);
      }
    }
  }

  #setTime(timeUs: number): void {
    // Set the digits again if necessary: a row of a re-sync may have the time of another second.
    const second = Math.floor(timeUs / 1_000_000);
    if (second !== this.#second) this.second(second);
    digits(this.#time, 10, 6, timeUs % 1_000_000);
    digits(this.#iso, 20, 6, timeUs % 1_000_000);
  }

  #account(target: Uint8Array, place: number, random: number): void {
    const from = (random % this.#accountCount) * 24;
    for (let step = 0; step < 24; step++) target[place + step] = this.#accounts[from + step] ?? 0;
  }

  /** Encodes a TID: 53 bits of microseconds and 10 bits of clock id, with five bits per character. */
  #setTid(timeUs: number, clockId: number): void {
    let high = Math.floor(timeUs / 0x200_0000);
    let low = timeUs % 0x200_0000;
    this.#tid[12] = this.#sortable[clockId & 31] ?? 0;
    this.#tid[11] = this.#sortable[(clockId >>> 5) & 31] ?? 0;
    for (let place = 10; place >= 6; place--) {
      this.#tid[place] = this.#sortable[low & 31] ?? 0;
      low >>>= 5;
    }
    for (let place = 5; place >= 0; place--) {
      this.#tid[place] = this.#sortable[high & 31] ?? 0;
      high >>>= 5;
    }
  }

  #cid(target: Uint8Array, place: number, random: number): void {
    let bits = random;
    for (let step = 0; step < 8; step++) {
      target[place + step] = this.#base32[bits & 31] ?? 0;
      bits = step === 3 ? (random * 2_654_435_761) >>> 7 : bits >>> 5;
    }
  }
}

function copy(from: Uint8Array, target: Uint8Array, place: number, length: number): void {
  for (let step = 0; step < length; step++) target[place + step] = from[step] ?? 0;
}

function digits(target: Uint8Array, at: number, width: number, value: number): void {
  let rest = value;
  for (let place = at + width - 1; place >= at; place--) {
    const tenth = Math.floor(rest / 10);
    target[place] = zero + (rest - tenth * 10);
    rest = tenth;
  }
}
