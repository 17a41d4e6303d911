import { describe, expect, it } from 'vitest';
import { changelogSection } from './changelog.ts';

const changelog = `# Changelog

## 1.10.0, not yet released

- New.

## 1.1.0, 2026-11-20

### Facts API

- Old: mentions ## 1.0.0 in its text.

## 1.0.0

- First.
`;

describe('the section of a version in the changelog', () => {
  it('consists of the note in its heading and its text up to the heading of the next version', () => {
    expect(changelogSection(changelog, '1.1.0')).toEqual({
      note: '2026-11-20',
      text: '## 1.1.0, 2026-11-20\n\n### Facts API\n\n- Old: mentions ## 1.0.0 in its text.\n',
    });
    expect(changelogSection(changelog, '1.10.0')?.note).toBe('not yet released');
    expect(changelogSection(changelog, '1.0.0')).toEqual({ note: '', text: '## 1.0.0\n\n- First.\n' });
  });

  it.each(['1.1', '1.0', '2.0.0', 'Changelog', ''])('is null if no heading has the version (%s)', (version) => {
    expect(changelogSection(changelog, version)).toBe(null);
  });
});
