import openapiTS, { astToString } from 'openapi-typescript';

/** Generates the TypeScript types of `almanac/client` from the schemas of the OpenAPI document. */
export async function clientTypes(whole: object): Promise<string> {
  const { openapi, info, components } = whole as Document;
  const document = { openapi, info, paths: {}, components: { schemas: components.schemas } };
  const types = await openapiTS(document as Parameters<typeof openapiTS>[0], {
    immutable: true,
    rootTypes: true,
    rootTypesNoSchemaPrefix: true,
    silent: true,
  });
  return `${head}\n${astToString(types).replace(/\n{3,}/g, '\n\n')}`;
}

interface Document {
  readonly openapi: string;
  readonly info: object;
  readonly components: { readonly schemas: object };
}

const head = '/** The shapes of the facts API. Generated from its OpenAPI document: npm run generate. */';
