import type { Alteration } from './alteration.ts';
import { damages } from './damages.ts';
import { forgeries } from './forgeries.ts';

/** All alterations: damage that a single file reveals, and forgeries that only the publisher can make. */
export const alterations: readonly Alteration[] = [...damages, ...forgeries];
