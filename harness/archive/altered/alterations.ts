import type { Alteration } from './archives.ts';
import { damages } from './damages.ts';
import { forgeries } from './forgeries.ts';

/** All alterations: damage without a new signature, and forgeries that only the holder of a signing key can make. */
export const alterations: readonly Alteration[] = [...damages, ...forgeries];
