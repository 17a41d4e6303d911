import { Fragment } from 'preact';

/** Shows a sentence of a document, with the parts between backquotes as code. */
export function Text({ of }: { of: string }) {
  return (
    <>
      {of
        .split('`')
        .map((part, at) => (at % 2 === 1 ? <code key={at}>{part}</code> : <Fragment key={at}>{part}</Fragment>))}
    </>
  );
}

/** Shows the paragraphs of a description. */
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
