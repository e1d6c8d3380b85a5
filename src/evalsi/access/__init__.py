"""Who may do what on a server: permissions, roles, actions, API keys and the one gate. Pure; its stores are ports."""
