"""What there is to be allowed: every permission by its name.

Names are part of the published interface. A permission is held in a project, except those that are of the installation
as a whole.
"""

import msgspec


class Permission(msgspec.Struct, frozen=True):
    """One thing that a role may allow."""

    name: str
    description: str
    install_wide: bool = False
    """Whether it is about the installation and not about one project; only a role in every project gives it."""


PERMISSIONS: tuple[Permission, ...] = (
    Permission("catalog.read", "List evaluators, judges and granted credentials"),
    Permission("evaluations.run", "Score records and rollouts"),
    Permission("runs.read", "Read runs, their records and results"),
    Permission("runs.create", "Start, import and rescore runs"),
    Permission("runs.cancel", "Cancel runs"),
    Permission("runs.resume", "Resume runs"),
    Permission("runs.delete", "Delete and archive runs"),
    Permission("datasets.read", "Read datasets and their versions"),
    Permission("datasets.write", "Upload datasets, publish versions, promote results"),
    Permission("datasets.review", "Approve and retire dataset versions"),
    Permission("releases.read", "Read release decisions"),
    Permission("releases.create", "Make release decisions"),
    Permission("policies.read", "Read policies on live traffic"),
    Permission("policies.write", "Apply and delete policies"),
    Permission("traces.read", "Read traces and their scores"),
    Permission("traces.write", "Send traces"),
    Permission("failures.read", "Read failures"),
    Permission("failures.write", "Capture and change failures"),
    Permission("failures.review", "Decide on failures"),
    Permission("failures.delete", "Delete failures"),
    Permission("annotations.read", "Read queues and annotations"),
    Permission("annotations.write", "Annotate"),
    Permission("annotations.manage", "Make, fill and delete queues"),
    Permission("guardrails.read", "Read guardrails"),
    Permission("guardrails.write", "Apply and delete guardrails"),
    Permission("guardrails.check", "Ask guardrails"),
    Permission("webhooks.read", "Read webhooks and their deliveries"),
    Permission("webhooks.write", "Apply, test and delete webhooks"),
    Permission("sources.read", "Read trace sources"),
    Permission("sources.write", "Apply, pause and delete trace sources"),
    Permission("access.manage", "Manage keys, roles and bindings"),
    Permission("audit.read", "Read the audit log"),
    Permission("self.read", "Ask who one is; everybody may", install_wide=True),
    Permission("projects.manage", "Make projects", install_wide=True),
    Permission("metrics.read", "Read the server's own metrics", install_wide=True),
    Permission("mcp.tools.call", "Call tools over MCP"),
)
"""In the order in which they are listed."""

PERMISSION_NAMES = frozenset(permission.name for permission in PERMISSIONS)
