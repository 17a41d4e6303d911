import { type Dice, dice } from '../random.ts';

/** Alphabet of did:plc identifiers and CIDs. */
export const base32 = 'abcdefghijklmnopqrstuvwxyz234567';
/** Alphabet of TIDs, in sort order. */
export const sortable = '234567abcdefghijklmnopqrstuvwxyz';

/** Number of accounts in the simulated network. */
export const accountCount = 20_000;

/** Returns the 24 characters of each account's did:plc, concatenated. The DIDs do not exist on the live network. */
export function accountBytes(seed: number): Uint8Array {
  return Buffer.from(dice(seed ^ 0x0acc).text(base32, 24 * accountCount), 'latin1');
}

/** Returns a random CID of a record, as used in references to it. */
export function recordCid(chance: Dice): string {
  return `bafyrei${chance.text(base32, 52)}`;
}

/** Returns a random CID of a blob. */
export function blobCid(chance: Dice): string {
  return `bafkrei${chance.text(base32, 52)}`;
}

/** Returns a random TID for a record that already exists. */
export function oldTid(chance: Dice): string {
  return `3m${chance.text(sortable, 11)}`;
}
