/* Draws the API reference from the OpenAPI file of this same origin, light or dark as the reader's system is. */
const dark = window.matchMedia('(prefers-color-scheme: dark)');
const follow = () => document.documentElement.classList.toggle('dark-mode', dark.matches);
dark.addEventListener('change', follow);
follow();

window.SwaggerUIBundle({
  url: new URL('openapi.json', document.baseURI).href,
  dom_id: '#reference',
  deepLinking: true,
  docExpansion: 'list',
  defaultModelsExpandDepth: 0,
  supportedSubmitMethods: ['get', 'head'],
  // The renderer's own validator is a foreign service: nothing here asks another origin.
  validatorUrl: null,
});
