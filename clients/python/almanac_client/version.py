"""The version of this package. Generated from package.json: npm run generate."""

__version__ = "0.1.0"
