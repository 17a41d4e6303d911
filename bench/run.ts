/** `npm run bench -- [name] [--quick]`: measures the real programs and prints what each is compared with. */
import { benchFacts } from './facts.ts';

const quick = process.argv.includes('--quick');
const names = process.argv.slice(2).filter((word) => !word.startsWith('--'));
const benches: Record<string, () => Promise<void>> = {
  facts: () => benchFacts(quick ? 1 : 5, quick ? 2 : 5),
};

for (const [name, bench] of Object.entries(benches)) {
  if (names.length === 0 || names.includes(name)) await bench();
}
