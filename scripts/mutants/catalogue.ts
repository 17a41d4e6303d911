/** A deliberate bug that changes one place in one file. The named tests must detect it. */
export interface Mutant {
  /** Id of the mutant in kebab case. Unique across all catalogues. */
  readonly id: string;
  /** The modelled failure, in one sentence. */
  readonly models: string;
  /** Path of the changed file, relative to the project's root. */
  readonly file: string;
  /** Test files that must detect the bug. */
  readonly tests: readonly string[];
  /** The lines to replace, exactly as in the file. */
  readonly before: string;
  /** The lines that replace `before`. */
  readonly after: string;
  /**
   * Reason why the change has no observable effect, so that no test can detect it. Null if tests can detect the change.
   */
  readonly equivalent: string | null;
}

/**
 * Thrown if a catalogue cannot be parsed or a mutant no longer applies. The message names the mutant and the remedy.
 */
class CatalogueError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'CatalogueError';
  }
}

/**
 * Parses a catalogue. Each mutant consists of a heading `## id`, a sentence, the lines `file:`, `tests:` and optionally
 * `equivalent:`, and the changed lines as in a patch: `-` before, `+` after, with their indentation.
 */
export function parseCatalogue(text: string, source: string): Mutant[] {
  const [, ...sections] = text.split(/^## /m);
  return sections.map((section) => parseMutant(section, source));
}

function parseMutant(section: string, source: string): Mutant {
  const [id = '', ...lines] = section.trimEnd().split('\n');
  const field = (name: string): string | null =>
    lines.find((line) => line.startsWith(`${name}: `))?.slice(name.length + 2) ?? null;
  const changed = (sign: '-' | '+'): string =>
    lines
      .filter((line) => line.startsWith(sign))
      .map((line) => line.slice(1))
      .join('\n');
  const [file, tests] = [field('file'), field('tests')];
  const models = lines.find((line) => line.trim() !== '') ?? '';
  if (file === null || tests === null || changed('-') === '' || models.includes(': ')) {
    throw new CatalogueError(`${source}: ${id} requires a sentence, file:, tests: and the changed lines`);
  }
  return {
    ...{ id: id.trim(), models, file, tests: tests.split(' ') },
    ...{ before: changed('-'), after: changed('+'), equivalent: field('equivalent') },
  };
}

/** Returns the text of a file with the mutant applied. Throws CatalogueError if the mutant no longer applies. */
export function applied({ id, file, before, after }: Mutant, text: string): string {
  const at = text.indexOf(before);
  if (at === -1 || text.indexOf(before, at + 1) !== -1) {
    const occur = at === -1 ? 'no longer occur' : 'occur more than once';
    throw new CatalogueError(`${id}: its lines ${occur} in ${file}; update the mutant or remove it`);
  }
  return text.slice(0, at) + after + text.slice(at + before.length);
}
