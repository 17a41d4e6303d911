export declare const licencesFile: string;
export declare function namesInLicences(text: string): string[];
export declare function bundledPackages(
  root: string,
  outputs: readonly { output: readonly { moduleIds?: readonly string[] }[] }[],
): string[];
export declare function licenceTexts(directories: readonly string[]): string;
