/** Builds when a source changed since the last build. */
export function build(): void;
/** Installs and builds, each only when it is needed. */
export function ready(): void;
