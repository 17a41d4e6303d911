/**
 * Adds a slider to every chart, which reads the values of an hour by pointer, touch and keyboard. The values come from
 * the chart's table, so that the script shows exactly what the page contains. Without the script, the table has
 * all of them.
 */

/** Adds the sliders to charts that have none yet. Must be called after each rendering of the page. */
export function addReaders(page: ParentNode & Pick<Document, 'createElement'>): void {
  for (const figure of page.querySelectorAll('figure[data-bins]')) {
    if (!figure.querySelector('.chart-read')) addReader(figure, page);
  }
}

function addReader(figure: Element, page: Pick<Document, 'createElement'>): void {
  const picture = figure.querySelector('svg');
  const heads = [...figure.querySelectorAll('thead th')].map(textOf);
  // The table lists the newest hour first, the picture the oldest.
  const rows = [...figure.querySelectorAll('tbody tr')].reverse();
  const bins = Number(figure.getAttribute('data-bins'));
  if (!picture || rows.length === 0) return;
  const box = page.createElement('div');
  box.className = 'chart-read';
  const slider = page.createElement('input');
  slider.type = 'range';
  slider.max = String(rows.length - 1);
  slider.value = slider.max;
  slider.setAttribute('aria-label', 'Hour whose values are read');
  const output = page.createElement('p');
  const show = (): void => {
    const cells = [...(rows[Number(slider.value)]?.children ?? [])].map(textOf);
    const text = readingOf(heads, cells);
    output.textContent = text;
    slider.setAttribute('aria-valuetext', text);
  };
  slider.addEventListener('input', show);
  picture.addEventListener('pointermove', ({ clientX }) => {
    const { left, width } = picture.getBoundingClientRect();
    slider.value = String(Math.floor(((clientX - left) / width) * bins));
    show();
  });
  box.append(slider, output);
  picture.after(box);
  show();
}

/** Returns the values of a row as text, such as `27 Nov 14:00 UTC: Events per second 59.5; Observed all`. */
export function readingOf(heads: readonly string[], [time = '', ...cells]: readonly string[]): string {
  return `${time} ${heads[0] ?? ''}: ${cells.map((cell, at) => `${(heads[at + 1] ?? '').replace(', if not all', '')} ${cell || 'all'}`).join('; ')}`;
}

function textOf({ textContent }: Element): string {
  return textContent ?? '';
}
