import { type InputLimit, inputLimits } from '../src/input/limits.ts';

/** Returns the page about input limits. Its table is generated from the limits that the code uses. */
export function inputLimitsDocument(): string {
  const rows = Object.values<InputLimit>(inputLimits).map((limit) => {
    const { input, author, bytes, decodedBytes, depth, elements, fields, cpu, code } = limit;
    const time = `${number(cpu.fixedMicroseconds / 1000)} ms + ${number(cpu.nanosecondsPerByte)} ns`;
    const cells = [
      input,
      author,
      size(bytes),
      size(decodedBytes),
      number(depth),
      number(elements),
      number(fields),
      time,
    ];
    return `| ${cells.join(' | ')} | \`${code}\` |`;
  });
  return `${head}\n\n${titles}\n${rows.join('\n')}\n\n${tail}\n`;
}

function number(value: number | null): string {
  return value === null ? '' : value.toLocaleString('en');
}

function size(bytes: number | null): string {
  if (bytes === null) return '';
  return bytes >= 1024 * 1024 ? `${bytes / 1024 / 1024} MiB` : `${bytes / 1024} KiB`;
}

const titles = `| input | author | bytes | decoded | depth | elements | fields | CPU, each input + byte | code |
|---|---|--:|--:|--:|--:|--:|--:|---|`;

const head = `# Input limits

This table lists every entry point for untrusted bytes, with its limits. The limits apply before the bytes are parsed: a scan
counts open containers (depth), values and keys (elements), and the fields of each object, and stops at the limit. Input that
exceeds a limit is refused like malformed input, and counts only against its author.`;

const tail = `A compressed response or frame may expand to 1 MiB, and beyond that to 64 times its length.
The label instrument charges the decoded bytes of each response to the labeler, and for new labelers also to the registrable domain.
A response may arrive in 4,096 pieces; further pieces must have at least 32 bytes on average. A websocket message may have 256
fragments; one of a Jetstream, in the weather instrument, may have 4,096.

The label instrument bounds the total memory of decoded input that is not yet stored, over all labelers
(\`src/input/decoded-bytes.ts\`). If a labeler exceeds its share, its connection is not read until memory is free, and its pages are
requested later. Each labeler always has a small reserve, so that one label never waits for another labeler.

The resource fuzzer (\`npm run fuzz\`) passes hostile inputs to the code of each row, in a process with a small heap, and checks
processor time and heap growth for each input. The CPU column has the bounds of the fuzzer, with a margin for a busy machine.

This page is generated from the program: \`npm run generate\`.`;
