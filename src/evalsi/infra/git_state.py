"""The state of the repository a run is started in. Asks git, briefly; no git, no answer."""

import subprocess
from pathlib import Path

from evalsi.schema import GitState

TIMEOUT_S = 2.0


def git_state(folder: Path) -> GitState | None:
    """Commit, branch and whether files differ; None outside a repository or where git does not answer."""
    if not any((parent / ".git").exists() for parent in (folder.absolute(), *folder.absolute().parents)):
        return None
    commit = _git(folder, "rev-parse", "HEAD")
    if commit is None:
        return None
    changed = _git(folder, "status", "--porcelain", "--untracked-files=no")
    return GitState(commit=commit, branch=_git(folder, "branch", "--show-current") or "", dirty=bool(changed))


def _git(folder: Path, *arguments: str) -> str | None:
    try:
        answer = subprocess.run(
            ["git", "-C", str(folder), *arguments],
            capture_output=True,
            text=True,
            timeout=TIMEOUT_S,
            check=False,
            stdin=subprocess.DEVNULL,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return answer.stdout.strip() if answer.returncode == 0 else None
