/** Builds the program if a source changed since the last build. */
export function build(): void;
/** Installs the packages and builds the program, each only if required. */
export function ready(): void;
