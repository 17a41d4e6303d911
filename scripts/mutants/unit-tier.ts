/** Tests beside their subjects that are not in the unit tier: they make a FIFO, a server, or ask the system's resolver. */
export const outsideUnitTier: readonly string[] = [
  'src/artifact/file-source.test.ts',
  'src/artifact/url-source.test.ts',
  'src/network/address-policy.test.ts',
];
