import type { Kind } from '../attack.ts';
import { gzipPage } from '../bytes.ts';

/** Number of values in a page: 11 kB of gzip decompress to 11.7 MB of JSON. */
const count = 3_900_000;

/** Serves pages of a few kilobytes that decode to millions of values. */
export const gzipPages: Kind = {
  name: 'gzip-pages',
  does: 'serves 11 kB of gzip that decompress to 3.9 million empty arrays',
  attack: () => ({
    page: ({ response }) => {
      response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Encoding': 'gzip' });
      response.end(gzipPage(count));
    },
  }),
};
