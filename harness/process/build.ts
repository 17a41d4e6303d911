import { build } from '../../scripts/ready.mjs';

/** Builds the program once before all tests if a source has changed. */
export default function setup(): void {
  build();
}
