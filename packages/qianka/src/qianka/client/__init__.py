"""The HTTP client: typed calls over the schemas, with retries that never do a thing twice."""
