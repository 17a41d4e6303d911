import type { ComponentChildren } from 'preact';
import type { LabelsOverview } from '../../contract/envelope.ts';
import { Bar } from '../../web/bar.tsx';
import { Count } from '../../web/figures.tsx';

/**
 * Lists the most active labelers by DID. A labeler's DID may be shown because a labeler is a public service. `linked`
 * is true if labelers have their own pages.
 */
export function TopLabelers({
  envelope,
  unit,
  linked = false,
}: {
  envelope: LabelsOverview;
  unit: string;
  linked?: boolean;
}) {
  const top = envelope.facts.top_labelers_7d;
  if (top.length === 0) return <p>No labeler is listed. That does not mean that no labeler was active.</p>;
  const most = Math.max(...top.map(({ count }) => count));
  return (
    <table class="kinds labelers">
      <thead>
        <tr>
          <th scope="col">Labeler</th>
          <th scope="col" class="number">
            {unit}
          </th>
        </tr>
      </thead>
      <tbody>
        {top.map(({ labeler_did: did, count }, index) => (
          <tr key={did}>
            <th scope="row">
              <LinkTo href={linked ? `./labelers/${did}` : null}>
                <code data-said={`labels/facts/top_labelers_7d/${index}/labeler_did`}>{did}</code>
              </LinkTo>
              {most > 0 ? <Bar share={count / most} /> : null}
            </th>
            <td class="number">
              <Count value={count} at={`labels/facts/top_labelers_7d/${index}/count`} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function LinkTo({ href, children }: { href: string | null; children: ComponentChildren }) {
  return href === null ? children : <a href={href}>{children}</a>;
}
