"""How programs were fenced in, in words for people. Its own module because pages and commands say it alike."""

from evalsi.schema import IsolationLevel, IsolationReport


def fence_words(report: IsolationReport) -> str:
    """One line: "bubblewrap: level namespaced, enforcement full"; what was missing follows."""
    if report.level is IsolationLevel.NONE:
        return f"{report.driver}: NOTHING fenced the programs in"
    missing = f" ({'; '.join(report.notes)})" if report.notes else ""
    return f"{report.driver}: level {report.level}, enforcement {report.enforcement}{missing}"
