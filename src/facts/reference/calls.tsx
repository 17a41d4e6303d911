import { Fragment } from 'preact';
import { typeOf } from './fields.ts';
import type { Call, Content, ResponseObject } from './openapi.ts';
import { callAnchor, errorAnchor, type Part, Text } from './parts.tsx';
import { allErrors, isErrorCode } from './remedies.ts';
import { exampleTarget, samplesOf } from './samples.ts';
import { TypeText } from './schemas.tsx';

/** Shows every call of one part of the reference. */
export function Calls({ part }: { part: Part }) {
  const shared = sharedStatuses(part);
  return (
    <>
      {part.calls.map((call) => (
        <CallSection key={call.path} part={part} call={call} shared={shared} />
      ))}
      <p>
        {'Every call can also fail with '}
        <Codes codes={shared.flatMap((status) => codesOf(part, status, part.calls[0]))} />.
      </p>
    </>
  );
}

interface CallProps {
  readonly part: Part;
  readonly call: Call;
  /** Statuses of the errors that all calls of the part have in common. */
  readonly shared: readonly string[];
}

function CallSection({ part, call, shared }: CallProps) {
  const id = callAnchor(part, call);
  const { path, operation, parameters, responses } = call;
  const fillable = parameters.filter(({ in: place }) => place !== 'header');
  return (
    <section
      class="call"
      data-path={part.sameOrigin ? path : undefined}
      data-parameters={fillable.map(({ name }) => name).join(' ') || undefined}
      data-example={part.sameOrigin && path.includes('{') ? exampleTarget(call) : undefined}
    >
      <h3 id={id}>
        <code>GET {path}</code>
      </h3>
      <p>
        <strong>{operation.summary}.</strong> <Text of={operation.description} />
        {part.sameOrigin && !path.includes('{') ? (
          <>
            {' '}
            <a href={`.${path}`}>Open {path}</a>
          </>
        ) : null}
      </p>
      <Parameters call={call} part={part} />
      <h4>{shared.length === 0 ? 'Responses' : 'Responses, besides the errors of every call'}</h4>
      <dl>
        {responses
          .filter(([status]) => !shared.includes(status))
          .map(([status, response]) => (
            <ResponseRow key={status} part={part} status={status} response={response} />
          ))}
      </dl>
      <Programs part={part} call={call} />
      <Examples call={call} />
    </section>
  );
}

function Parameters({ call: { parameters, path }, part }: Pick<CallProps, 'call' | 'part'>) {
  if (parameters.length === 0) return null;
  return (
    <>
      <h4>Parameters</h4>
      <dl>
        {parameters.map(({ name, in: place, description, schema, required = false }) => (
          <Fragment key={name}>
            <dt>
              <code>{name}</code>{' '}
              <span class="soft">
                {place}
                {required ? ', required' : ''},{' '}
                <TypeText type={typeOf(schema, `${path}.${name}`)} anchors={part.anchors} />
              </span>
            </dt>
            <dd>
              <Text of={description} />
            </dd>
          </Fragment>
        ))}
      </dl>
    </>
  );
}

interface ResponseProps {
  readonly part: Part;
  readonly status: string;
  readonly response: ResponseObject;
}

function ResponseRow({ part, status, response }: ResponseProps) {
  const codes = codesIn(part, status, response);
  const [type, content] = Object.entries(response.content ?? {})[0] ?? [];
  return (
    <>
      <dt>
        <code>{status}</code>{' '}
        <span class="soft">
          {type ?? 'no body'}
          {content?.schema.$ref === undefined ? null : (
            <>
              {', '}
              <TypeText type={typeOf(content.schema, '')} anchors={part.anchors} />
            </>
          )}
        </span>
      </dt>
      <dd>
        <Text of={response.description} />
        {codes.length === 0 ? null : (
          <>
            {' Codes: '}
            <Codes codes={codes} />.
          </>
        )}
      </dd>
    </>
  );
}

function Codes({ codes }: { codes: readonly string[] }) {
  return (
    <>
      {codes.map((code, at) => (
        <Fragment key={code}>
          {at === 0 ? '' : ', '}
          <a href={`#${errorAnchor(code)}`}>
            <code>{code}</code>
          </a>
        </Fragment>
      ))}
    </>
  );
}

function Programs({ part, call }: Pick<CallProps, 'part' | 'call'>) {
  const { curl, typescript, python } = samplesOf(call, part.base);
  return (
    <>
      <h4>Programs</h4>
      <pre>
        <code data-language="curl">{curl}</code>
      </pre>
      <details>
        <summary>TypeScript</summary>
        <pre>
          <code data-language="typescript">{typescript}</code>
        </pre>
      </details>
      <details>
        <summary>Python</summary>
        <pre>
          <code data-language="python">{python}</code>
        </pre>
      </details>
    </>
  );
}

function Examples({ call }: { call: Call }) {
  const ok = call.responses.find(([status]) => status === '200')?.[1];
  const examples = Object.entries(ok?.content?.['application/json']?.examples ?? {});
  return (
    <>
      {examples.map(([name, { value }]) => (
        <details key={name}>
          <summary>{examples.length === 1 ? 'Example of the response' : `Example of the response: ${name}`}</summary>
          <pre>
            <code>{JSON.stringify(value, null, 2)}</code>
          </pre>
        </details>
      ))}
    </>
  );
}

/** Returns the error statuses for which all calls of a part have the same response. */
function sharedStatuses({ calls }: Part): string[] {
  const [first, ...others] = calls;
  const errors = first?.responses.filter(([status]) => Number(status) >= 400) ?? [];
  const same = (status: string, response: ResponseObject) =>
    others.every((call) => call.responses.some(([other, its]) => other === status && its === response));
  return errors.filter(([status, response]) => same(status, response)).map(([status]) => status);
}

function codesOf(part: Part, status: string, call: Call | undefined): string[] {
  const response = call?.responses.find(([one]) => one === status)?.[1];
  return response ? codesIn(part, status, response) : [];
}

/**
 * Returns the error codes that a response may have: those of its examples. A 409 response may have every code with that
 * status in the document.
 */
function codesIn({ document }: Part, status: string, { content }: ResponseObject): string[] {
  const named = examplesOf(content?.['application/json']).map(codeOf).filter(isErrorCode);
  const all =
    status === '409' ? (document.components.schemas.Error?.properties?.error?.properties?.code?.enum ?? []) : [];
  const refused = all.filter(isErrorCode).filter((code) => allErrors[code].status === 409);
  return [...new Set(refused.length > 0 ? refused : named)];
}

function examplesOf(content: Content | undefined): unknown[] {
  return Object.values(content?.examples ?? {}).map(({ value }) => value);
}

function codeOf(value: unknown): unknown {
  return (value as { error?: { code?: unknown } } | null)?.error?.code;
}
