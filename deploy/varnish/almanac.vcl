# The facts API behind Varnish: varnishd -f almanac.vcl. Varnish has no TLS of its own: put a proxy that has it in front.
# It caches each response for as long as the response allows, never longer, and asks once for several clients.
vcl 4.1;

backend almanac_facts {
  .host = "127.0.0.1";
  .port = "8400";
  .connect_timeout = 2s;
  .first_byte_timeout = 10s;
}

sub vcl_recv {
  # The service ignores queries, except in the list of labelers. With --base-path, put the base path in front of each path in
  # this file.
  if (req.url !~ "^/labelers\?") {
    set req.url = regsub(req.url, "\?.*$", "");
  }
  # Replace the header, so that a client cannot choose its address. The service runs with --trust-proxy 1. If another
  # proxy is in front of Varnish, remove this line and set --trust-proxy 2.
  set req.http.X-Forwarded-For = client.ip;
  unset req.http.Cookie;
  # Downloads would displace the facts, and the service responds to their ranges itself. Metrics depend on Accept. The
  # responses to searches of labelers are not cached.
  if (req.url ~ "^/archive/" || req.url == "/metrics/facts" || req.url ~ "^/labelers\?") {
    return (pass);
  }
  # The facts have no ranges, and their only validator is the ETag.
  unset req.http.Range;
  unset req.http.If-Modified-Since;
}

sub vcl_backend_response {
  # Never serve an expired response, not even while a new one is requested.
  set beresp.grace = 0s;
}

sub vcl_backend_error {
  # If the facts service is unreachable, refuse as without an artifact.
  set beresp.status = 503;
  set beresp.ttl = 0s;
  set beresp.grace = 0s;
  set beresp.http.Content-Type = "application/json; charset=utf-8";
  set beresp.http.Cache-Control = "no-store";
  set beresp.http.Access-Control-Allow-Origin = "*";
  set beresp.http.X-Content-Type-Options = "nosniff";
  synthetic("""{"error":{"status":503,"code":"source_unavailable","message":"The service that reads the facts cannot be reached. This is absence of a reading, not proof that nothing was observed."}}""");
  return (deliver);
}
