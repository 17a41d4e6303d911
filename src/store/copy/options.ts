import type { CopySource, CopyTarget } from './parts.ts';

/** Event that a running copy reports. */
export type CopyEvent =
  | { readonly kind: 'copied'; readonly day: string; readonly rows: number }
  | { readonly kind: 'verified'; readonly day: string; readonly rows: number; readonly digest: string }
  /** The day is copied again, because rows of the day were removed since the previous copy. */
  | { readonly kind: 'again'; readonly day: string }
  /** The copy of the day was removed, because the day has expired in the source. */
  | { readonly kind: 'dropped'; readonly day: string }
  /** Number of rows of the source when the copy started, and how many of them an earlier run had copied. */
  | { readonly kind: 'begun'; readonly rows: number; readonly copied: number }
  /** All rows are copied, but another process still writes to the source. */
  | { readonly kind: 'following' }
  /** A transient error occurred; the copy tries again. */
  | { readonly kind: 'retrying'; readonly why: string };

/** Options for copying a store. */
export interface CopyOptions {
  readonly source: CopySource;
  readonly target: CopyTarget;
  /** True to return when all rows are copied but another process still writes to the source. */
  readonly once: boolean;
  readonly report: (event: CopyEvent) => void;
  /** Waits before the copy checks again whether another process still writes to the source, and before a retry. */
  readonly wait: () => Promise<void>;
  /** Called with the number of previous attempts before each attempt to freeze the source. */
  readonly beforeFreeze?: (attempts: number) => Promise<void>;
  /** Called when everything is copied, before the copy becomes a store. */
  readonly beforeComplete?: () => Promise<void>;
}
