/** The parts of a CycloneDX document that this script changes. */
export interface Sbom {
  readonly metadata: { readonly component: { readonly name: string; readonly 'bom-ref': string } };
  readonly components: readonly SbomComponent[];
  readonly dependencies: readonly { readonly ref: string; readonly dependsOn: readonly string[] }[];
}

interface SbomComponent {
  readonly 'bom-ref': string;
  readonly name: string;
  readonly properties?: readonly { readonly name: string; readonly value: string }[];
}

/**
 * Returns the part of a CycloneDX document that describes shipped code: all components that are not only for
 * development, and the development packages whose code or files the build copies into the package. npm names the
 * document after its directory; this function replaces that name by the name of the package.
 */
export function shippedSbom(all: Sbom, name: string, copied: readonly string[]): Sbom {
  const isDevelopment = ({ properties = [] }: SbomComponent): boolean =>
    properties.some((property) => property.name === 'cdx:npm:package:development' && property.value === 'true');
  const components = all.components
    .filter((component) => !isDevelopment(component) || copied.includes(component.name))
    .map((component) => (copied.includes(component.name) ? { ...component, scope: 'required' } : component));
  const references = new Set([
    all.metadata.component['bom-ref'],
    ...components.map((component) => component['bom-ref']),
  ]);
  return {
    ...all,
    metadata: { ...all.metadata, component: { ...all.metadata.component, name } },
    components,
    dependencies: all.dependencies
      .filter(({ ref }) => references.has(ref))
      .map(({ ref, dependsOn }) => ({ ref, dependsOn: dependsOn.filter((other) => references.has(other)) })),
  };
}
