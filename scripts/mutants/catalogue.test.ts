import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { applied, type Mutant, parseCatalogue } from './catalogue.ts';

const root = join(import.meta.dirname, '..', '..');
const folder = join(root, 'harness', 'mutants');
const catalogues = readdirSync(folder).filter((name) => name.endsWith('.mutants'));
const mutants = catalogues.flatMap((name) => parseCatalogue(readFileSync(join(folder, name), 'utf8'), name));

const text = `# Mutants of a room.

## off-by-one
The last row is lost.
file: src/a.ts
tests: src/a.test.ts test/b.test.ts
-  for (let i = 0; i <= last; i++)
-    read(i);
+  for (let i = 0; i < last; i++)
+    read(i);
`;
const mutant: Mutant = {
  id: 'off-by-one',
  models: 'The last row is lost.',
  file: 'src/a.ts',
  tests: ['src/a.test.ts', 'test/b.test.ts'],
  before: '  for (let i = 0; i <= last; i++)\n    read(i);',
  after: '  for (let i = 0; i < last; i++)\n    read(i);',
  equivalent: null,
};

describe('a catalogue of mutants', () => {
  it('is parsed into mutants with the changed lines', () => {
    expect(parseCatalogue(text, 'a.mutants')).toEqual([mutant]);
  });

  it('is refused if a mutant has no tests or no change', () => {
    expect(() => parseCatalogue(text.replace(/tests: .*/, ''), 'a.mutants')).toThrow('a.mutants: off-by-one requires');
    expect(() => parseCatalogue(text.replaceAll(/^-.*\n/gm, ''), 'a.mutants')).toThrow(
      'a.mutants: off-by-one requires',
    );
  });

  it('cannot be applied if the lines of a mutant are missing from the code or occur more than once', () => {
    expect(applied(mutant, `x\n${mutant.before}\ny`)).toBe(`x\n${mutant.after}\ny`);
    expect(() => applied(mutant, 'x')).toThrow('its lines no longer occur in src/a.ts');
    expect(() => applied(mutant, `${mutant.before}\n${mutant.before}`)).toThrow('its lines occur more than once');
  });
});

describe('the catalogues of this project', () => {
  it('give each mutant a unique id', () => {
    const ids = mutants.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)]);
  });

  it.each(mutants)('contain only mutants that apply to the current code ($id)', (one) => {
    expect(applied(one, readFileSync(join(root, one.file), 'utf8'))).not.toBe(
      readFileSync(join(root, one.file), 'utf8'),
    );
    for (const test of one.tests) expect(readFileSync(join(root, test), 'utf8')).toContain('expect');
  });
});
