/** Tests in `src/` that are not in the unit tier: they create a FIFO or a server, or use the system's resolver. */
export const outsideUnitTier: readonly string[] = [
  'src/artifact/file-source.test.ts',
  'src/artifact/url-source.test.ts',
  'src/network/address-policy.test.ts',
];
