import type { ComponentChildren } from 'preact';

/** A rendered part of a sentence, such as a time or a link. Its position in the sentence depends on the language. */
export type Piece = ComponentChildren;

/** Creates a link with the given text, for use in a sentence. */
export type LinkOf = (text: string) => Piece;
