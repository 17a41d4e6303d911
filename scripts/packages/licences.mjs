import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** Name of the file with the licences of the bundled packages, in the directory of the bundle. */
export const licencesFile = 'third-party-licences.txt';

const packagePath = /^(.*\/node_modules\/((?:@[^/]+\/)?[^/]+))\//;
const licenceName = /^(?:licen[cs]e|copying|notice)/i;

/**
 * Returns the directories of the packages whose modules are part of bundles. `outputs` are results of rolldown.
 * Rolldown's own runtime is a module of every bundle that contains CommonJS code.
 */
export function bundledPackages(root, outputs) {
  const directories = new Set();
  for (const { output } of outputs) {
    for (const id of output.flatMap(({ moduleIds = [] }) => moduleIds)) {
      const [, directory] = packagePath.exec(id) ?? [];
      if (directory !== undefined) directories.add(directory);
      else if (id.includes('rolldown/runtime')) directories.add(join(root, 'node_modules', 'rolldown'));
    }
  }
  return [...directories].sort();
}

/**
 * Returns the text of all licences. Each package has a heading `NAME VERSION (LICENCE)`, followed by its licence files,
 * or by the licence in its README. Throws if a package has neither, because a person must then decide.
 */
export function licenceTexts(directories) {
  const sections = directories.map((directory) => {
    const { name, version, license } = JSON.parse(readFileSync(join(directory, 'package.json'), 'utf8'));
    const files = existsSync(directory) ? readdirSync(directory).filter((file) => licenceName.test(file)) : [];
    const texts = files.sort().map((file) => readFileSync(join(directory, file), 'utf8').trim());
    if (texts.length === 0) texts.push(...licenceInReadme(directory));
    if (texts.length === 0) throw new Error(`${name} ${version} (${license}) is bundled and has no licence text`);
    return `${'='.repeat(80)}\n${name} ${version} (${license})\n${'='.repeat(80)}\n\n${texts.join('\n\n')}\n`;
  });
  return `The files of this directory and assets/built contain code of these packages.\n\n${sections.join('\n')}`;
}

/**
 * Returns the licence section of a package's README if it contains a complete MIT licence. Some packages have no
 * licence elsewhere.
 */
function licenceInReadme(directory) {
  const readme = join(directory, 'README.md');
  const [, section = ''] = existsSync(readme) ? readFileSync(readme, 'utf8').split(/^#+ licen[cs]e$/im) : [];
  const isComplete = ['Copyright', 'Permission is hereby granted', 'WITHOUT WARRANTY'].every((part) =>
    section.includes(part),
  );
  return isComplete ? [section.trim()] : [];
}

/** Returns the names of the packages in the output of `licenceTexts`. */
export function namesInLicences(text) {
  return [...text.matchAll(/^={80}\n(\S+) \S+ \(.*\)\n={80}$/gm)].map(([, name]) => name);
}
