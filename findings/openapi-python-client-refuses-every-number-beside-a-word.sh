#!/usr/bin/env bash
# A field is a number or the word "unknown". The client that openapi-python-client generates refuses every
# response in which it is a number.
#
# What it is: a generator of Python clients from OpenAPI documents.
# Versions: openapi-python-client 0.29.1; datamodel-code-generator 0.89.0 with pydantic 2.12.5 beside it (PyPI).
# What the spec says: OpenAPI 3.1 uses JSON Schema 2020-12: with oneOf, a value is valid if exactly one of the
#   schemas accepts it (core, 10.2.1.3), and const accepts one value only (validation, 6.1.3). So 0.5 is valid,
#   and so is "unknown". The generator warns of nothing and types the field as float or Literal['unknown'].
# Guess: from_dict gives 0.5 for 0.5, and "unknown" for "unknown".
# Seen: a ValueError for 0.5: it "must match const". In a union without objects, the generated parser checks
#   the constant for every value (a report of two constants side by side is open since 2024). The model of
#   the other generator accepts both values.
# Wrong claim for a user: a service that answers with a reading looks broken, and one that knows nothing works.
# Instead: describe the word as an enum with one value, and test the client with both kinds of answer.
set -euo pipefail
T=$(mktemp -d); trap 'rm -rf "$T"' EXIT; cd "$T"
python3 -m venv v && v/bin/pip -q --disable-pip-version-check install openapi-python-client==0.29.1 \
  datamodel-code-generator==0.89.0 pydantic==2.12.5 ruff
cat > api.json <<'J'
{"openapi": "3.1.0", "info": {"title": "Facts", "version": "1"},
 "paths": {"/fact": {"get": {"operationId": "fact", "responses": {"200": {"description": "A fact.",
   "content": {"application/json": {"schema": {"$ref": "#/components/schemas/Fact"}}}}}}}},
 "components": {"schemas": {"Fact": {"type": "object", "required": ["share"], "properties": {
   "share": {"oneOf": [{"type": "number"}, {"type": "string", "const": "unknown"}]}}}}}}
J
PATH=$PWD/v/bin:$PATH v/bin/openapi-python-client generate --path api.json --output-path client --meta none >/dev/null
v/bin/datamodel-codegen --input api.json --input-file-type openapi --output-model-type pydantic_v2.BaseModel \
  --output model.py 2>/dev/null
cat > run.py <<'PY'
from importlib.metadata import version
from client.models.fact import Fact
import model
print('openapi-python-client', version('openapi-python-client'))

def seen(read, value):
    try:
        return read({'share': value}).share
    except ValueError as fault:
        return f'{type(fault).__name__}: {fault}'

number, word = seen(Fact.from_dict, 0.5), seen(Fact.from_dict, 'unknown')
print('the word:   expected unknown, observed', word)
print('the number: expected 0.5, observed', number)
others = seen(model.Fact.model_validate, 0.5), seen(model.Fact.model_validate, 'unknown')
print('the model of datamodel-code-generator', version('datamodel-code-generator'), 'observed', others)
stated = word == 'unknown' and 'must match const' in str(number) and others == (0.5, 'unknown')
print('still as stated' if stated else 'changed')
raise SystemExit(0 if stated else 1)
PY
v/bin/python run.py
