"""Bodies of the HTTP API, shared by server and client; one file a noun."""
