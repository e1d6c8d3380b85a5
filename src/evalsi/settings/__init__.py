"""Every setting, once: what a machine's environment says, and what the configuration file of a server says.

Users' words (data, evaluators, params) are flags and specs; operators' words (where the store lies, which judge is the
default, who may enter) are settings. Nothing outside this package reads the environment.
"""

from evalsi.settings.local import JudgeDefaults, RemoteSandboxSettings, SandboxSettings, Settings

__all__ = ["JudgeDefaults", "RemoteSandboxSettings", "SandboxSettings", "Settings"]
