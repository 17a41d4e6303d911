/** The section of one version in a changelog. */
interface ChangelogSection {
  /** Text that follows the version in the heading, such as the date. */
  readonly note: string;
  readonly text: string;
}

/** Returns the section of a version, including its heading, or null if the changelog has no such section. */
export function changelogSection(changelog: string, version: string): ChangelogSection | null {
  const sections = changelog.split(/^(?=## )/m);
  for (const section of sections) {
    const [, found, note = ''] = /^## (\S+?)(?:, *(.*))?$/m.exec(section) ?? [];
    if (found === version && section.startsWith('## ')) return { note, text: `${section.trim()}\n` };
  }
  return null;
}
