"""Chat models behind addresses: the HTTP clients, and recordings of them. Each implements `evalsi.ports.ChatModel`."""
