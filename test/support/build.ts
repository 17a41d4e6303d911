import { build } from '../../scripts/ready.mjs';

/** Tests run the built program: it is built once, before all of them, when a source changed. */
export default function setup(): void {
  build();
}
