import { describe, expect, it } from 'vitest';
import { type Sbom, shippedSbom } from './sbom.ts';

const development = [{ name: 'cdx:npm:package:development', value: 'true' }];
const all: Sbom = {
  metadata: { component: { name: 'checkout', 'bom-ref': 'almanac@1.0.0' } },
  components: [
    { 'bom-ref': 'a@1', name: 'a', properties: [] },
    { 'bom-ref': 'b@1', name: 'b' },
    { 'bom-ref': 'tool@1', name: 'tool', properties: development },
    { 'bom-ref': 'style@1', name: 'style', properties: development },
  ],
  dependencies: [
    { ref: 'almanac@1.0.0', dependsOn: ['a@1', 'tool@1', 'style@1'] },
    { ref: 'a@1', dependsOn: ['b@1'] },
    { ref: 'tool@1', dependsOn: ['b@1'] },
  ],
};

describe('the SBOM of the package', () => {
  const shipped = shippedSbom(all, 'almanac', ['style']);

  it('lists the shipped packages, including copied development packages, but excludes tools', () => {
    expect(shipped.components.map(({ name }) => name)).toEqual(['a', 'b', 'style']);
    expect(shipped.dependencies).toEqual([
      { ref: 'almanac@1.0.0', dependsOn: ['a@1', 'style@1'] },
      { ref: 'a@1', dependsOn: ['b@1'] },
    ]);
  });

  it("has the name of the package, not the name of the checkout's directory", () => {
    expect(shipped.metadata.component.name).toBe('almanac');
  });
});
