/* Adds to the API reference what needs a script: requests to this service, and its address in the programs. */

/** Maximum length of a body that is shown, in characters. */
const maxShown = 20_000;
const maxWaitMs = 20_000;

const base = new URL('.', document.baseURI).href.replace(/\/$/, '');

function element(name, properties, ...children) {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
}

/** Fills in the address of this service where the page has an example of one. */
function fillInAddress(example) {
  for (const code of document.querySelectorAll('[data-language], [data-address]')) {
    code.textContent = code.textContent.replaceAll(example, base);
  }
  document.querySelector('[data-hint]')?.remove();
}

/** Returns the address of a call with the entered values; values in a path are taken as they are. */
function targetOf(path, fields) {
  const query = new URLSearchParams();
  let filled = path;
  for (const { name, value } of fields) {
    if (filled.includes(`{${name}}`)) filled = filled.replace(`{${name}}`, () => value.trim());
    else if (value !== '') query.set(name, value);
  }
  const text = query.toString();
  return `${base}${filled}${text === '' ? '' : `?${text}`}`;
}

function readable(type, text) {
  let shown = text;
  if (type.startsWith('application/json')) {
    try {
      shown = JSON.stringify(JSON.parse(text), null, 2);
    } catch {
      // The body is shown as it came.
    }
  }
  return shown.length > maxShown ? `${shown.slice(0, maxShown)}\n… (shortened)` : shown;
}

async function request(url, result, status) {
  status.textContent = 'Waiting for the response.';
  result.hidden = true;
  try {
    const response = await fetch(url, { signal: AbortSignal.timeout(maxWaitMs), cache: 'no-cache' });
    const type = response.headers.get('Content-Type') ?? '';
    const text = await response.text();
    const headers = ['Content-Type', 'ETag', 'Cache-Control', 'Last-Modified']
      .map((name) => [name, response.headers.get(name)])
      .filter(([, value]) => value !== null)
      .map((pair) => `${pair.join(': ')}\n`);
    result.textContent = `${headers.join('')}\n${readable(type, text)}`;
    result.hidden = false;
    status.textContent = `${response.status}: ${url}`;
  } catch {
    status.textContent = `No response from ${url}`;
  }
}

/** Adds a form to a call that sends the request and shows the response. */
function addForm(section) {
  const { path, parameters = '', example = '' } = section.dataset;
  const fields = parameters
    .split(' ')
    .filter((name) => name !== '')
    .map((name) => element('input', { name, id: `try-${path}-${name}`, autocomplete: 'off', spellcheck: false }));
  const [first] = fields;
  // The example differs from the path by the value of its parameter.
  const [before = '', after = ''] = path.split(/\{[^}]+\}/);
  if (first && path.includes('{')) first.value = example.slice(before.length, example.length - after.length);
  const result = element('pre', { className: 'try-result', hidden: true, tabIndex: 0, ariaLabel: 'Response' });
  result.setAttribute('role', 'region');
  const status = element('p', { className: 'soft' });
  status.setAttribute('role', 'status');
  const form = element('form', { className: 'try' });
  for (const field of fields) {
    form.append(element('div', {}, element('label', { htmlFor: field.id, textContent: field.name }), field));
  }
  form.append(element('button', { textContent: `Try GET ${path}` }));
  form.addEventListener('submit', (event) => {
    event.preventDefault();
    void request(targetOf(path, fields), result, status);
  });
  section.append(form, status, result);
}

const example = document.querySelector('[data-base]')?.dataset.base;
if (example !== undefined) fillInAddress(example);
for (const section of document.querySelectorAll('section[data-path]')) addForm(section);
