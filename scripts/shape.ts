/**
 * Prints the shape of `src` without tests as a table: the number and length of its files, and how many names they and
 * the rooms show to each other. With the path of a directory, it also lists the files below that have one reader.
 *
 *     npm run shape -- src/labels
 */
import { parsed, sourceFiles } from '../harness/process/imports.ts';
import { readersOf, shapeOf } from '../harness/process/shape.ts';

const sources = new Map(sourceFiles('src').map((file) => [file, parsed(file)]));
const { faces, ...counts } = shapeOf(sources);
const rows: readonly (readonly [string, number])[] = [
  ['files', counts.files],
  ['lines', counts.lines],
  ['files under 30 lines', counts.filesUnder30Lines],
  ['files under 60 lines', counts.filesUnder60Lines],
  ['files that exactly one other file imports', counts.filesWithOneReader],
  ['exported names', counts.exportedNames],
  ['lines of imports', counts.linesOfImports],
  ...[...faces].map(([room, names]): [string, number] => [`names of \`${room}\` that other rooms import`, names]),
];
const width = Math.max(...rows.map(([name]) => name.length));
console.log(`| ${'`src` without tests'.padEnd(width)} |  count |\n| ${'-'.repeat(width)} | -----: |`);
for (const [name, count] of rows) console.log(`| ${name.padEnd(width)} | ${String(count).padStart(6)} |`);

const [folder] = process.argv.slice(2);
if (folder !== undefined) {
  console.log();
  for (const [file, [reader, ...others]] of readersOf(sources)) {
    if (file.startsWith(`${folder}/`) && others.length === 0) console.log(`${file} <- ${reader}`);
  }
}
