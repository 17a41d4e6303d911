import { Fragment } from 'preact';
import { fieldsOf, type Schema, type TypePart, typeOf } from './openapi.ts';
import { type Part, Text } from './parts.tsx';

/** Shows a type with its units and values, and links to other schemas. */
export function TypeText({ type, anchors }: { type: readonly TypePart[]; anchors: Part['anchors'] }) {
  return (
    <>
      {type.map((part, at) => {
        if ('schema' in part) {
          return (
            <a key={at} href={`#${anchors.get(part.schema) ?? part.schema}`}>
              {part.schema}
            </a>
          );
        }
        if ('value' in part) return <code key={at}>{part.value}</code>;
        return <Fragment key={at}>{'unit' in part ? part.unit : part.text}</Fragment>;
      })}
    </>
  );
}

/** Shows the schemas that the page lists in a part, with the description of each field. */
export function Schemas({ part }: { part: Part }) {
  const { schemas } = part.document.components;
  return (
    <>
      {part.shown.map(([name, schema]) => (
        <section key={name}>
          <h3 id={part.anchors.get(name)}>{name}</h3>
          <p>
            <Text of={schema.description ?? ''} />
            {schema.anyOf ? (
              <>
                {' Either '}
                <TypeText type={typeOf(schema, name)} anchors={part.anchors} />.
              </>
            ) : null}
          </p>
          <Fields name={name} schema={schema} schemas={schemas} anchors={part.anchors} />
        </section>
      ))}
    </>
  );
}

interface FieldsProps {
  readonly name: string;
  readonly schema: Schema;
  readonly schemas: Readonly<Record<string, Schema>>;
  readonly anchors: Part['anchors'];
}

function Fields({ name, schema, schemas, anchors }: FieldsProps) {
  const fields = fieldsOf(name, schema, schemas);
  if (fields.length === 0) return null;
  return (
    <dl>
      {fields.map(({ path, type, meaning, required, deprecated }) => (
        <Fragment key={path}>
          <dt>
            <code>{path}</code>{' '}
            <span class="soft">
              <TypeText type={type} anchors={anchors} />
              {required ? null : '; may be absent'}
              {deprecated ? '; deprecated' : null}
            </span>
          </dt>
          <dd>
            <Text of={meaning} />
          </dd>
        </Fragment>
      ))}
    </dl>
  );
}
