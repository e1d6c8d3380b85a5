"""`evalsi rewards`: score rollouts as a trainer would, and look for signs that a reward is being hacked."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import click

from evalsi.cli.confidence_option import confidence_option
from evalsi.cli.format_option import format_option
from evalsi.cli.group_with_serve import GroupWithServe
from evalsi.cli.map_option import map_option
from evalsi.cli.metric_table import FORMATS, mean_in_words, print_summaries
from evalsi.cli.server_options import key_options
from evalsi.cli.table import number, print_table, text, whole
from evalsi.cli.terminal import say
from evalsi.core.figure import counted, figure, interval_heading


@click.group(cls=GroupWithServe, serve_in="evalsi.server.rewards_command")
def rewards() -> None:
    """Score rollouts with a reward spec, serve that to trainers, and diagnose rewards."""


@rewards.command()
@click.option("--spec", required=True, metavar="FILE", help="The reward spec, YAML or JSON.")
@click.option("--data", required=True, metavar="DATA", help="The rollouts: input, output, reference.")
@click.option("--output", metavar="FILE", help="Write the rewards here instead of standard output.")
@format_option(FORMATS, about="How the means are printed, where the rewards go to a file.")
@map_option
@confidence_option()
@click.option(
    "--cluster-by",
    metavar="KEY",
    help="Metadata key that groups rollouts which are not independent; the prompt when left out.",
)
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N rollouts.")
@click.option("--concurrency", type=click.IntRange(1), metavar="N", help="Rollouts that ask judges at once, here.")
@click.option("--server", default="", metavar="URL", help="Have this server score them, with its judges and sandboxes.")
@click.option("--project", default="", metavar="NAME", help="The project on the server.")
@key_options
def score(spec: str, data: str, output: str | None, mappings: tuple[str, ...], limit: int | None, **given: Any) -> None:
    """Score rollouts: one reward with its parts for each, as JSON lines in the order of the data.

    With --output, standard output has the means of the rewards and of their parts: of how many, and with intervals in which
    rollouts of one prompt belong together.

    \b
    evalsi rewards score --spec reward.yaml --data rollouts.jsonl --output rewards.jsonl
    evalsi rewards score --spec reward.yaml --data rollouts.csv --map output=completion --map reference=answer
    """  # noqa: D301
    import asyncio
    from dataclasses import replace

    from evalsi.cli.server_options import named_server
    from evalsi.core.errors import NothingScoredError, UsageError
    from evalsi.core.whole_file import check_place, whole_file
    from evalsi.datasets import DatasetOptions, mapping_of_flags, open_dataset
    from evalsi.ports.reward_scorer import RewardScorer
    from evalsi.results.check_cluster_key import check_cluster_key
    from evalsi.reward.check_spec import check_spec
    from evalsi.reward.summarize_rewards import summarize_rewards
    from evalsi.schema import Reward
    from evalsi.schema.json_codec import encode_file
    from evalsi.settings import Settings
    from evalsi.wiring.remote_rewards import make_remote_scorer
    from evalsi.wiring.reward_spec import read_reward_document
    from evalsi.wiring.rewarding import make_reward_scorer

    server, project, concurrency = given["server"], given["project"], given["concurrency"]
    if server and concurrency is not None:
        raise UsageError("--concurrency is decided by the server", hint="leave it out")
    if project and not server:
        raise UsageError("--project is the project on a server", hint="name the server with --server")
    if output is not None:
        check_place(Path(output), [spec, data])
    elif given["output_format"] != "table":
        raise UsageError(
            f"--format {given['output_format']} prints the means where the rewards go, on standard output",
            hint="name a file for the rewards with --output",
        )
    document = read_reward_document(Path(spec))
    read = document.spec
    mapping = mapping_of_flags(mappings)
    dataset = open_dataset(data, options=DatasetOptions(mapping=mapping, limit=limit))
    check_cluster_key(dataset, dataset.scan().columns, given["cluster_by"], list(mapping))
    rollouts = list(dataset.records())

    async def run() -> list[Reward]:
        settings = Settings.from_environment()
        if server:
            address = named_server(server, settings)
            known = replace(settings, api_key=address.api_key)
            scorer: RewardScorer = make_remote_scorer(read, known, server=address.url, project=project)
        else:
            scorer = make_reward_scorer(read, settings, concurrency=concurrency, where=document.where)
        try:
            return await scorer.score(rollouts)
        finally:
            await scorer.close()

    found = asyncio.run(run())
    text = b"".join(encode_file(reward) + b"\n" for reward in found)
    if output is None:
        sys.stdout.buffer.write(text)
    else:
        with whole_file(Path(output)) as file:
            file.write_bytes(text)
    summaries = summarize_rewards(
        read, check_spec(read), rollouts, found, level=given["confidence"], cluster_by=given["cluster_by"]
    )
    if output is not None:
        print_summaries(summaries, given["output_format"])
    gated = sum(reward.gated for reward in found)
    whole = summaries[0]
    say(
        f"{counted(len(found), 'rollout')}: {mean_in_words(whole)}, {gated:,} stopped by a gate, {len(found) - whole.n:,} without a reward"
    )
    if not whole.n:
        raise NothingScoredError("no rollout has a reward", hint=_why_none(found, rollouts[:1]))


def _why_none(found: Sequence[Any], rollouts: Sequence[Any]) -> str:
    """The commonest reason of the parts without a value, where the others are, and the column that may be meant.

    Args:
        rollouts: The first, if there are any.
    """
    from evalsi.datasets.likely_columns import listed_columns, map_flags

    reasons = Counter(
        f"{name}: {part.reason}"
        for reward in found
        for name, part in reward.components.items()
        if part.value is None and part.reason
    )
    if not reasons:
        return "there are no rollouts" if not found else "the rows say why, in `components`"
    ((commonest, rows),) = reasons.most_common(1)
    columns = ""
    if "has no " in commonest:
        field = commonest.rpartition(" ")[2]
        others = [name for rollout in rollouts[:1] for name in rollout.metadata]
        shown = f"its columns are {listed_columns(others)}, " if others else ""
        columns = f"; {shown}name the right one: {map_flags([field], others)}"
    return f"most often {commonest} ({rows:,} of {len(found):,}){columns}; the rows say why, in `components`"


@rewards.command()
@click.option("--data", required=True, metavar="DATA", help="The rollouts, with their training step in a column.")
@click.option(
    "--rewards", "given", required=True, metavar="FILE", help="Their rewards, as `rewards score` writes them."
)
@map_option
@click.option("--step", default="step", show_default=True, metavar="NAME", help="Column of the training step.")
@click.option(
    "--heldout",
    default="heldout",
    show_default=True,
    metavar="NAME",
    help="Column of a score the reward knows nothing of.",
)
@confidence_option()
@format_option()
def diagnose(
    data: str,
    given: str,
    mappings: tuple[str, ...],
    step: str,
    heldout: str,
    confidence: float,
    output_format: str,
) -> None:
    """Look for signs of a hacked reward: a held-out score that does not keep up, a taste for length, parts that drift.

    \b
    evalsi rewards diagnose --data rollouts.jsonl --rewards rewards.jsonl --heldout human_score
    """  # noqa: D301
    import msgspec

    from evalsi.datasets import DatasetOptions, mapping_of_flags, open_dataset
    from evalsi.reward.diagnose_rewards import diagnose_rewards
    from evalsi.reward.given_rewards import given_rewards
    from evalsi.reward.read_rewards import read_rewards
    from evalsi.stats.bootstrap import Resampling

    rollouts = open_dataset(data, options=DatasetOptions(mapping=mapping_of_flags(mappings))).records()
    arrays = given_rewards(rollouts, read_rewards(Path(given)), step=step, heldout=heldout)
    signs = diagnose_rewards(arrays, Resampling(level=confidence, seed=0))
    if output_format == "json":
        print(msgspec.json.format(msgspec.json.encode(signs)).decode())
        return
    _print(signs)


def _print(signs: Any) -> None:
    rows: list[tuple[str, ...]] = []
    for sign in signs:
        interval = sign.estimate.interval
        shown = f"[{figure(interval.low)}, {figure(interval.high)}]" if interval is not None else ""
        says = "ALARM" if sign.is_alarm else "" if interval is not None else sign.estimate.reason or ""
        rows.append((sign.name, figure(sign.estimate.value), f"{sign.estimate.n:,}", shown, says, sign.meaning))
    columns = (
        text("sign"),
        number("value"),
        number("n"),
        whole(interval_heading(sign.estimate.interval.level for sign in signs if sign.estimate.interval is not None)),
        text("says"),
        text("meaning"),
    )
    print_table(columns, rows)
