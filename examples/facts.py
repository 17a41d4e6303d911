"""Asks the facts API with the standard library alone."""

import json
import sys
import urllib.error
import urllib.request

MOST_BYTES = 4 * 1024 * 1024


def fact(path, contract):
    """The body of a fact. Ends the program with exit code 3 when the service refuses it."""
    base = sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8400"
    try:
        with urllib.request.urlopen(base.rstrip("/") + path, timeout=10) as answer:
            body = json.loads(answer.read(MOST_BYTES))
    except urllib.error.HTTPError as refusal:
        error = json.loads(refusal.read(MOST_BYTES))["error"]
        # The refusal is the answer: nothing is shown in its place.
        print("refused", f"{error['status']} {error['code']}", error["message"], sep="\t", file=sys.stderr)
        sys.exit(3)
    if body["contract"] != contract:
        sys.exit(f"not {contract}: {body['contract']}")
    return body


def known(value):
    """Null means not known. It is not a zero."""
    return "not known" if value is None else value
