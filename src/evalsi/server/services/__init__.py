"""The service methods, each written once: Struct in, Struct out, whatever protocol carried them."""
