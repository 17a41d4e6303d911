import { archiveHeading, noLabelsText } from '../archive/section-texts.ts';

/**
 * A section of the server-rendered page that the page's script keeps unchanged, because the section contains no fact.
 */
interface KeptSection {
  readonly id: string;
  readonly html: string;
  /** Text of the refusal that the section states; null if it states none. */
  readonly refusal: string | null;
}

/** Returns a section of the page by the identifier of its heading; null if the page does not have it. */
export function keptSection(page: ParentNode, id: string): KeptSection | null {
  const section = page.querySelector(`[aria-labelledby="${id}"]`);
  if (!section) return null;
  return { id, html: section.innerHTML, refusal: section.querySelector('[data-refused]')?.textContent ?? null };
}

/** Renders a section that was kept from the server-rendered page, or nothing if the page does not have it. */
export function Kept({ section }: { section: KeptSection | null }) {
  // The server rendered this HTML, and the page already shows it.
  return section && <section aria-labelledby={section.id} dangerouslySetInnerHTML={{ __html: section.html }} />;
}

/**
 * Shows the kept section of the archive, with or without labels, as the server rendered it. If the refusal of the label
 * overview has changed since then, shows a request to reload the page instead of the section. `refusal` is the reason
 * why the overview is refused now, or null.
 */
export function KeptArchive({ section, refusal }: { section: KeptSection | null; refusal: string | null }) {
  if (!section) return null;
  const stated = refusal === null ? null : noLabelsText(refusal);
  if (section.refusal === stated) return <Kept section={section} />;
  return (
    <section aria-labelledby={section.id}>
      <h2 id={section.id}>{archiveHeading}</h2>
      <p data-refused={refusal === null ? undefined : 'archived-labels'}>
        {refusal === null ? 'Labels are shown again.' : stated} Reload this page to show the current chart.
      </p>
    </section>
  );
}

/**
 * Shows the kept section about the last 72 hours as the server rendered it. While its fact is refused, no chart is shown:
 * it may contain counts that must not be shown any longer.
 */
export function KeptHours({
  section,
  heading,
  isRefused,
}: {
  section: KeptSection | null;
  heading: string;
  isRefused: boolean;
}) {
  if (!isRefused || !section?.html.includes('<svg')) return <Kept section={section} />;
  return (
    <section aria-labelledby={section.id}>
      <h2 id={section.id}>{heading}</h2>
      <p data-refused={section.id}>
        The chart was removed, because its fact is refused. Reload this page to try again.
      </p>
    </section>
  );
}
