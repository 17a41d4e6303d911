import type { ComponentChildren } from 'preact';

/** A part of a sentence that is rendered, such as a time or a link. Each language puts it in its own position. */
export type Piece = ComponentChildren;

/** Creates a link with the given text, for use in a sentence. */
export type LinkOf = (text: string) => Piece;
