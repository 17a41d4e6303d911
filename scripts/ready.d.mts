/** Builds the program if a source has changed since the last build. */
export function build(): void;
/** Installs the packages and builds the program, each only if necessary. */
export function ready(): void;
