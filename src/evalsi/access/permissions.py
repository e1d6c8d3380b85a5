"""What there is to be allowed: every permission by its name.

Names are part of the published interface, `traces.delete` apart, which is ours. A permission is held in a project, except those that are of the installation
as a whole.
"""

from evalsi.schema import Permission


def _in_project(name: str, description: str) -> Permission:
    return Permission(name=name, description=description)


def _of_installation(name: str, description: str) -> Permission:
    return Permission(name=name, description=description, install_wide=True)


PERMISSIONS: tuple[Permission, ...] = (
    _in_project("catalog.read", "List evaluators, judges and granted credentials"),
    _in_project("evaluations.run", "Score records and rollouts"),
    _in_project("runs.read", "Read runs, their records and results"),
    _in_project("runs.create", "Start, import and rescore runs"),
    _in_project("runs.cancel", "Cancel runs"),
    _in_project("runs.resume", "Resume runs"),
    _in_project("runs.delete", "Delete and archive runs"),
    _in_project("datasets.read", "Read datasets and their versions"),
    _in_project("datasets.write", "Upload datasets, publish versions, promote results"),
    _in_project("datasets.review", "Approve and retire dataset versions"),
    _in_project("releases.read", "Read release decisions"),
    _in_project("releases.create", "Make release decisions"),
    _in_project("policies.read", "Read policies on live traffic"),
    _in_project("policies.write", "Apply and delete policies"),
    _in_project("traces.read", "Read traces and their scores"),
    _in_project("traces.write", "Send traces and feedback"),
    _in_project("traces.delete", "Delete traces for good"),
    _in_project("failures.read", "Read failures"),
    _in_project("failures.write", "Capture and change failures"),
    _in_project("failures.review", "Decide on failures"),
    _in_project("failures.delete", "Delete failures"),
    _in_project("annotations.read", "Read queues and annotations"),
    _in_project("annotations.write", "Annotate"),
    _in_project("annotations.manage", "Make, fill and delete queues"),
    _in_project("guardrails.read", "Read guardrails"),
    _in_project("guardrails.write", "Apply and delete guardrails"),
    _in_project("guardrails.check", "Ask guardrails"),
    _in_project("webhooks.read", "Read webhooks and their deliveries"),
    _in_project("webhooks.write", "Apply, test and delete webhooks"),
    _in_project("sources.read", "Read trace sources"),
    _in_project("sources.write", "Apply, pause and delete trace sources"),
    _in_project("access.manage", "Manage keys, roles and bindings"),
    _in_project("audit.read", "Read the audit log"),
    _of_installation("self.read", "Ask who one is; everybody may"),
    _of_installation("projects.manage", "Make projects"),
    _of_installation("metrics.read", "Read the server's own metrics"),
    _in_project("mcp.tools.call", "Call tools over MCP"),
)
"""In the order in which they are listed."""

PERMISSION_NAMES = frozenset(permission.name for permission in PERMISSIONS)
