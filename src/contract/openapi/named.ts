/** Named examples as a document spells them. */
export function named(values: Readonly<Record<string, unknown>>): Record<string, { value: unknown }> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, { value }]));
}
