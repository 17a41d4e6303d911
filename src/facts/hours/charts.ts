import { addReaders } from './read-values.ts';

/** Script of pages with charts that do not update themselves. */
addReaders(document);
