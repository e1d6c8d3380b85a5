"""How did an agent work: its tool calls, its way, its budgets, what it let in and out?"""
