import type { ComponentChildren } from 'preact';

/** A part of a page within a sentence, such as a time or a link. Each language puts it in its own place. */
export type Piece = ComponentChildren;

/** Creates the link of a sentence with the link's text. */
export type LinkOf = (text: string) => Piece;
