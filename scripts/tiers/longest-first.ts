import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';
import { longFiles } from './tiers.ts';

/**
 * Sequencer that starts the long test files first. It also works in a fresh clone, which has no durations of earlier
 * runs.
 */
export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rank = ({ moduleId }: TestSpecification): number => {
      const index = longFiles.indexOf(relative(process.cwd(), moduleId));
      return index < 0 ? longFiles.length : index;
    };
    const others = await super.sort(files);
    return others.sort((a, b) => rank(a) - rank(b));
  }
}
