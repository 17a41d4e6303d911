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
 * Writes the variable parts of frames. The stamper keeps the digits of the current event, to avoid memory allocations.
 * It is not reentrant.
 */
export class Stamper {
  readonly #accounts: DataView;
  readonly #accountCount: number;
  readonly #time = text(16);
  readonly #seq = text(15);
  readonly #tid = text(13);
  readonly #created = text(24);
  readonly #iso = text(27);
  readonly #cid = text(8);
  #second = -1;
  #seqMillions = -1;
  readonly #base32 = Buffer.from(base32);
  readonly #sortable = Buffer.from(sortable);

  /** `accounts` contains 24 characters of did:plc for each account, concatenated. */
  constructor(accounts: Uint8Array) {
    this.#accounts = new DataView(accounts.buffer, accounts.byteOffset, accounts.byteLength);
    this.#accountCount = accounts.length / 24;
  }

  /** Sets the digits that all events of one UTC second share. */
  second(second: number): void {
    this.#second = second;
    this.#iso.bytes.set(Buffer.from(new Date(second * 1000).toISOString().replace('Z', '000Z')));
    this.#time.bytes.set(Buffer.from(String(second).padStart(10, '0')));
    this.#created.bytes.set(Buffer.from(new Date((second - 1) * 1000).toISOString()));
  }

  /** Stamps one frame at offset `at` in `target`. `random` and `more` are 32 random bits each. */
  stamp(
    target: DataView,
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
          copy(this.#accounts, (random % this.#accountCount) * 24, target, place, 24);
          break;
        case slotSubject:
          copy(this.#accounts, (more % this.#accountCount) * 24, target, place, 24);
          break;
        case slotTime:
          copy(this.#time.view, 0, target, place, 16);
          break;
        case slotSeq:
          this.#setSeq(seq);
          copy(this.#seq.view, 0, target, place, 15);
          break;
        case slotRev:
          if (tidFor !== slotRev) this.#setTid(timeUs, random);
          tidFor = slotRev;
          copy(this.#tid.view, 0, target, place, 13);
          break;
        case slotRkey:
          if (tidFor !== slotRkey) this.#setTid(timeUs - 1000 - (more & 0xfff), random);
          tidFor = slotRkey;
          copy(this.#tid.view, 0, target, place, 13);
          break;
        case slotCreated:
          digits(this.#created.bytes, 20, 3, more % 1000);
          copy(this.#created.view, 0, target, place, 24);
          break;
        case slotIso:
          copy(this.#iso.view, 0, target, place, 27);
          break;
        default:
          this.#setCid(random ^ more);
          copy(this.#cid.view, 0, target, place, 8);
      }
    }
  }

  #setTime(timeUs: number): void {
    // Set the digits again if necessary: a row of a re-sync may have the time of another second.
    const second = Math.floor(timeUs / 1_000_000);
    if (second !== this.#second) this.second(second);
    const micros = timeUs - second * 1_000_000;
    digits(this.#time.bytes, 10, 6, micros);
    digits(this.#iso.bytes, 20, 6, micros);
  }

  #setSeq(seq: number): void {
    const millions = Math.floor(seq / 1_000_000);
    if (millions !== this.#seqMillions) digits(this.#seq.bytes, 0, 9, millions);
    this.#seqMillions = millions;
    digits(this.#seq.bytes, 9, 6, seq - millions * 1_000_000);
  }

  /** Encodes a TID: 53 bits of microseconds and 10 bits of clock id, with five bits per character. */
  #setTid(timeUs: number, clockId: number): void {
    let high = Math.floor(timeUs / 0x200_0000);
    let low = timeUs % 0x200_0000;
    this.#tid.bytes[12] = this.#sortable[clockId & 31] ?? 0;
    this.#tid.bytes[11] = this.#sortable[(clockId >>> 5) & 31] ?? 0;
    for (let place = 10; place >= 6; place--) {
      this.#tid.bytes[place] = this.#sortable[low & 31] ?? 0;
      low >>>= 5;
    }
    for (let place = 5; place >= 0; place--) {
      this.#tid.bytes[place] = this.#sortable[high & 31] ?? 0;
      high >>>= 5;
    }
  }

  #setCid(random: number): void {
    let bits = random;
    for (let step = 0; step < 8; step++) {
      this.#cid.bytes[step] = this.#base32[bits & 31] ?? 0;
      bits = step === 3 ? (random * 2_654_435_761) >>> 7 : bits >>> 5;
    }
  }
}

/** Characters of a slot, with a view that copies eight of them at a time. */
interface Text {
  readonly bytes: Uint8Array;
  readonly view: DataView;
}

function text(length: number): Text {
  const bytes = new Uint8Array(length);
  return { bytes, view: new DataView(bytes.buffer) };
}

/**
 * Copies at least eight characters, eight at a time. The last group of eight may overlap the previous group. A float
 * carries any eight ASCII characters unchanged, because these bytes are never a NaN.
 */
function copy(from: DataView, at: number, target: DataView, place: number, length: number): void {
  for (let step = 0; step < length - 8; step += 8) target.setFloat64(place + step, from.getFloat64(at + step));
  target.setFloat64(place + length - 8, from.getFloat64(at + length - 8));
}

/** Writes a number below 2^31 with leading zeros. */
function digits(target: Uint8Array, at: number, width: number, value: number): void {
  let rest = value | 0;
  for (let place = at + width - 1; place >= at; place--) {
    const tenth = (rest / 10) | 0;
    target[place] = zero + (rest - tenth * 10);
    rest = tenth;
  }
}
