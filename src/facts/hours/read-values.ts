/**
 * Reads the values of a chart by pointer, touch and keyboard: the time, the value, the observed share and the reason of
 * the nearest hour or day. The values come from the chart's CSV files, which contain exactly what is drawn, and from the
 * titles of its periods if there are no files. Without the script, a table has all of them.
 */

/** Text that is shown until a period is chosen. */
const hint = 'To read a value, point at the chart, touch it, or use the arrow keys on the slider.';

/** Functions that read the values of a changed chart again, by the element that shows them. */
const refreshers = new WeakMap<Element, () => void>();

/** Lets readers read the values of every chart. Must be called again after each change of the page. */
export function addReaders(page: Document): void {
  for (const figure of page.querySelectorAll<HTMLElement>('figure[data-bins]')) {
    const box = figure.querySelector('.chart-read');
    if (box === null) continue;
    if (!refreshers.has(box)) addReader(figure, box, page);
    refreshers.get(box)?.();
  }
}

function addReader(figure: HTMLElement, box: Element, page: Document): void {
  const slider = page.createElement('input');
  slider.type = 'range';
  slider.setAttribute('aria-label', 'Hour or day to read');
  const output = page.createElement('output');
  output.textContent = hint;
  const bins = (): number => Number(figure.dataset.bins);
  // A value above the maximum would be cut.
  slider.max = String(bins() - 1);
  slider.value = slider.max;
  let known: { readonly key: string; readonly texts: Promise<readonly string[]> } | null = null;
  // A refusal removes a chart and the links to its files.
  const key = (): string => [figure.dataset.through, ...linksOf(figure)].join(' ');

  async function show(): Promise<void> {
    const current = key();
    if (known?.key !== current) known = { key: current, texts: textsOf(figure) };
    const at = Number(slider.value);
    const texts = await known.texts.catch(() => {
      known = null;
      return [];
    });
    if (at !== Number(slider.value) || key() !== current) return;
    const text = texts[at] ?? 'The values cannot be read now.';
    output.textContent = text;
    slider.setAttribute('aria-valuetext', text);
    for (const picture of figure.querySelectorAll('svg.plot')) mark(picture, at, bins());
  }

  function refresh(): void {
    slider.max = String(bins() - 1);
    if (known === null || known.key === key()) return;
    output.textContent = '';
    void show();
  }

  function point({ clientX }: PointerEvent): void {
    const { left, width } = figure.querySelector('svg.plot')?.getBoundingClientRect() ?? { left: 0, width: 1 };
    const at = String(Math.min(bins() - 1, Math.max(0, Math.floor(((clientX - left) / width) * bins()))));
    if (at === slider.value && known !== null) return;
    slider.value = at;
    void show();
  }

  slider.addEventListener('input', () => void show());
  slider.addEventListener('focus', () => void show());
  const plots = figure.querySelector<HTMLElement>('.plots');
  plots?.addEventListener('pointermove', point);
  plots?.addEventListener('pointerdown', point);
  box.append(slider, output);
  refreshers.set(box, refresh);
}

/** Marks the period that is being read. */
function mark(picture: Element, at: number, bins: number): void {
  const cursor =
    picture.querySelector('.plot-cursor') ?? picture.ownerDocument.createElementNS(picture.namespaceURI, 'rect');
  cursor.setAttribute('class', 'plot-cursor');
  cursor.setAttribute('x', `${(100 * at) / bins}%`);
  cursor.setAttribute('width', `${100 / bins}%`);
  picture.append(cursor);
}

/** Returns the text of every period, oldest first. */
async function textsOf(figure: HTMLElement): Promise<readonly string[]> {
  const titles = [...figure.querySelectorAll('svg.plot g > title')].filter(
    ({ nextElementSibling: next }) => next?.getAttribute('class') === 'chart-touch',
  );
  if (titles.length > 0) return titles.map(({ textContent }) => textContent ?? '');
  return readingsOf(await Promise.all(linksOf(figure).map(fileOf)));
}

function linksOf(figure: HTMLElement): string[] {
  return [...figure.querySelectorAll<HTMLAnchorElement>('a[href$=".csv"]')].map(({ href }) => href);
}

async function fileOf(url: string): Promise<string> {
  const response = await fetch(url);
  if (!response.ok) throw new Error(`${url}: status ${response.status}`);
  return response.text();
}

/**
 * Returns the readings of CSV files with the same periods, such as `27 Nov 14:00 UTC: events per second 59.5, observed
 * 50 %: nothing arrived from the host`.
 */
export function readingsOf(files: readonly string[]): string[] {
  const tables = files.map(rowsOf);
  return (tables[0]?.slice(1) ?? []).map(([start = '', end = ''], at) => {
    const values = tables.map(([head = [], ...rows]) => valuesOf(head, rows[at] ?? []));
    return `${timeOf(start, end)}: ${values.join('; ')}`;
  });
}

function valuesOf(head: readonly string[], row: readonly string[]): string {
  const texts = head.flatMap((name, at): string[] => {
    const value = row[at] ?? '';
    if (['start', 'end', 'reason', 'usual_high', 'origin'].includes(name)) return [];
    if (name === 'observed_share') return [observedOf(value, row[at + 1] ?? '', head[2])];
    if (name === 'usual_low')
      return value === '' ? [] : [`usually ${numberOf(value)} to ${numberOf(row[at + 1] ?? '')}`];
    // Most periods have no labels that were read late.
    if (value === '' && name.endsWith('read_late')) return [];
    return [`${name.replaceAll('_', ' ')} ${value === '' ? 'unknown' : numberOf(value)}`];
  });
  return texts.join(', ');
}

function observedOf(share: string, reason: string, counted: string | undefined): string {
  if (share === '') return 'not over yet';
  const part = Number(share);
  // A share below one is never shown as the whole.
  const words =
    part >= 1
      ? counted === 'events_per_second'
        ? 'entirely observed'
        : // Single labelers may not have been read while collection ran.
          'collection ran'
      : part <= 0
        ? 'not observed'
        : `${Math.min(99.9, Math.floor(part * 1000) / 10)} % observed`;
  return reason === '' ? words : `${words}: ${reason}`;
}

function numberOf(text: string): string {
  const value = Number(text);
  // No positive value is shown as zero: one event in a day is 0.00001 per second.
  const digits = value >= 100 ? 1 : value >= 1 ? 2 : 5;
  return value.toLocaleString('en', { maximumFractionDigits: digits });
}

function timeOf(start: string, end: string): string {
  // Such as `Fri, 27 Nov 2026 14:00:00 GMT`.
  const [, day = '', month = '', , clock = ''] = new Date(start).toUTCString().split(' ');
  const isHour = Date.parse(end) - Date.parse(start) <= 3_600_000;
  return `${Number(day)} ${month}${isHour ? ` ${clock.slice(0, 5)} UTC` : ''}`;
}

/** Returns the fields of a CSV file as `chartCsv` writes it. */
function rowsOf(file: string): string[][] {
  const lines = file.split('\n').filter((line) => line !== '');
  return lines.map((line) =>
    [...line.matchAll(/(?:^|,)(?:"((?:[^"]|"")*)"|([^,]*))/g)].map(
      ([, quoted, plain = '']) => quoted?.replaceAll('""', '"') ?? plain,
    ),
  );
}
