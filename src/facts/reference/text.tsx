import { Fragment } from 'preact';

/** Shows a sentence of a document. Text between backquotes is shown as code. */
export function Text({ of }: { of: string }) {
  return (
    <>
      {of
        .split('`')
        .map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : <Fragment key={at}>{part}</Fragment>))}
    </>
  );
}

/** Shows a description, split into paragraphs. */
export function Paragraphs({ of }: { of: string }) {
  return (
    <>
      {of.split('\n\n').map((paragraph, at) => (
        <p key={at}>
          <Text of={paragraph} />
        </p>
      ))}
    </>
  );
}
