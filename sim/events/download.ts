import { dice } from '../random.ts';
import type { FrameStyle } from './frames.ts';
import type { GeneratedSource } from './generated.ts';
import { downloadFrames } from './rare-frames.ts';

/** Number of rows of each downloaded repository. */
const rowsPerRepository = 50;

/** Options of a download. */
interface DownloadOptions {
  readonly style: FrameStyle;
  readonly seed: number;
  /** Number of rows. */
  readonly rows: number;
  readonly nowUs: number;
}

/**
 * Lets the history of a host begin with a download of the network's repositories, as that of a new Jetstream does: the
 * oldest events become creates of one account after another, and the rows of an account have one time.
 */
export function beginWithDownload(source: GeneratedSource, { style, seed, rows, nowUs }: DownloadOptions): void {
  const frames = downloadFrames(style, dice(seed ^ 0xd0)).map(({ text, species }) =>
    source.catalogue.add(text, species),
  );
  const first = source.oldest(nowUs);
  source.replace(
    first,
    Array.from({ length: rows }, (_, row) => frames[row % frames.length] ?? 0),
  );
  for (let row = 0; row < rows; row += rowsPerRepository) {
    const model = first + row;
    const size = Math.min(rowsPerRepository, rows - row);
    source.stampAs(
      Array.from({ length: size }, (_, next) => model + next),
      model,
    );
  }
}
