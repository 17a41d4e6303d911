import type { Texts } from '../texts/texts.ts';

/** Input fields that several forms share. */

/** Attributes of a field for a name or value. They disable automatic corrections, which are meant for prose. */
export const verbatim = { autocomplete: 'off', autocapitalize: 'none', autocorrect: 'off', spellcheck: false } as const;

/** Renders hidden fields with the given names and values. */
export function Kept({ fields }: { fields: readonly (readonly [string, string])[] }) {
  return (
    <>
      {fields.map(([name, value]) => (
        <input key={name} type="hidden" name={name} value={value} />
      ))}
    </>
  );
}

interface TextFieldProps {
  readonly name: string;
  readonly text: string;
  readonly value: string;
  /** Id of the list with suggestions for the field. */
  readonly list?: string;
  /** Id of the field's hint. */
  readonly hint?: string;
}

/** Renders a text field below its label. */
export function TextField({ name, text, value, list, hint }: TextFieldProps) {
  return (
    <div>
      <label for={`field-${name}`}>{text}</label>
      <input
        id={`field-${name}`}
        name={name}
        type="text"
        value={value}
        {...verbatim}
        {...(list === undefined ? {} : { list })}
        {...(hint === undefined ? {} : { 'aria-describedby': hint })}
      />
    </div>
  );
}

/** Properties of a select field: its label, options and selected option. */
interface SelectProps {
  readonly name: string;
  readonly text: string;
  readonly chosen: string | undefined;
  readonly options: readonly (readonly [value: string, text: string])[];
  readonly any: string;
}

/** Renders a select field. `any` is an additional option that accepts any value. */
export function Select({ name, text, chosen, options, any }: SelectProps) {
  return (
    <div>
      <label for={`field-${name}`}>{text}</label>
      <select id={`field-${name}`} name={name}>
        <option value="">{any}</option>
        {options.map(([value, words]) => (
          <option key={value} value={value} selected={value === chosen}>
            {words}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Renders the two fields of an interval, with an example of the format. */
export function IntervalFields({ start, end, t }: { readonly start: string; readonly end: string; readonly t: Texts }) {
  return (
    <>
      <div class="fields">
        <TextField name="start" text={t.from} value={start} hint="interval-hint" />
        <TextField name="end" text={t.to} value={end} hint="interval-hint" />
        <button type="submit">{t.showInterval}</button>
      </div>
      <p id="interval-hint" class="soft">
        {t.intervalHint}
      </p>
    </>
  );
}
