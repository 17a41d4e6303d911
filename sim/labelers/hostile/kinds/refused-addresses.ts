import type { Kind } from '../attack.ts';

/**
 * Notations of addresses that every address check must refuse. The hostile zone also has names that resolve to such
 * addresses.
 */
const literals = [
  'http://10.0.0.1',
  'http://169.254.169.254',
  'http://192.168.1.1:8080',
  'http://[fd00::1]',
  'http://[::ffff:10.0.0.1]',
  'http://0x0a000001',
  'http://167772161',
  'http://0.0.0.0',
  'http://100.64.0.1',
  'https://10.0.0.1',
];

/** Declares an endpoint at a private, link-local or reserved address, in ordinary or unusual notation, or by name. */
export const refusedAddresses: Kind = {
  name: 'refused-addresses',
  does: 'has an endpoint at a private or reserved address, in ordinary or unusual notation, or by name',
  elsewhere: (index, names) =>
    names && index % 2 === 0
      ? `http://private-${index}.hostile${index}.test`
      : (literals[index % literals.length] ?? ''),
  attack: () => ({}),
};
