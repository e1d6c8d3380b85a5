"""The shared cases G01 to G05 and the statistics of D01, with their data."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evalsi import stats

CASES = Path(__file__).parents[1] / "cases"


def case(code: str) -> tuple[dict[str, Any], dict[str, Any]]:
    (path,) = CASES.glob(f"{code}_*.json")
    body = json.loads(path.read_text(encoding="utf-8"))
    return body["input"], body["expected"]


def test_g01_wilson_intervals() -> None:
    given, expected = case("G01")
    for row, wanted in zip(given["rows"], expected["rows"], strict=True):
        found = stats.wilson(row["k"], row["n"], given["level"])
        if wanted is None:
            assert found is None
        else:
            assert found is not None
            assert [found.low, found.high] == pytest.approx(wanted, abs=expected["tolerance"])


def test_g02_the_bootstrap_mean_draws_n_of_n_and_never_shows_certainty() -> None:
    given, expected = case("G02")
    slack = expected["tolerance_for_10000_resamples"]["se"]
    for name in ("a", "b"):
        values, wanted = given[name], expected[name]
        found = stats.bootstrap_mean(values, stats.Resampling(seed=1))
        assert found.value == pytest.approx(wanted["mean"], abs=1e-6)
        assert found.standard_error == pytest.approx(wanted["se"], abs=1e-6)
        assert found.interval is not None
        # One step of the discrete support: changing one draw moves the mean by at most range / n.
        step = (max(values) - min(values)) / len(values)
        assert found.interval.low == pytest.approx(wanted["q025"], abs=step)
        assert found.interval.high == pytest.approx(wanted["q975"], abs=step)
        simulated = stats.bootstrap_statistic(
            lambda weights, values=values: weights @ np.array(values) / len(values),
            len(values),
            stats.Resampling(seed=1),
        )
        assert simulated.standard_error == pytest.approx(wanted["se"], abs=slack)
        assert found == stats.bootstrap_mean(values, stats.Resampling(seed=1))
    constant = stats.bootstrap_mean(given["c"], stats.Resampling(seed=1), bounds=(0.0, 1.0))
    assert constant.interval is not None
    assert constant.interval.low < 0.6
    assert stats.proportion_estimate(5, 5).interval == stats.wilson(5, 5)
    single = stats.bootstrap_mean(given["d"], stats.Resampling(seed=1), bounds=(0.0, 1.0))
    assert (single.value, single.standard_error, single.interval) == (0.7, None, None)
    assert single.reason


def test_g03_mcnemar_and_paired_differences() -> None:
    given, expected = case("G03")
    for row, wanted in zip(given["rows"], expected["rows"], strict=True):
        assert stats.mcnemar_exact(**row) == pytest.approx(wanted["exact"], abs=1e-5)
        middle = stats.mcnemar_mid_p(**row)
        assert middle == (None if wanted["mid_p"] is None else pytest.approx(wanted["mid_p"], abs=1e-5))
    for row, wanted in zip(given["paired"][:2], expected["paired"][:2], strict=True):
        found = stats.paired_wald(**row)
        assert (found.value, found.standard_error) == pytest.approx((wanted["diff"], wanted["se"]), abs=1e-5)
        assert found.interval is not None
        assert [found.interval.low, found.interval.high] == pytest.approx(wanted["ci95"], abs=1e-5)
    silent = given["paired"][2]
    assert stats.paired_wald(**silent).interval is None
    honest = stats.bonett_price(**silent)
    assert honest is not None
    assert honest.low == pytest.approx(-honest.high)
    assert 0.05 < honest.high < 0.1  # 40 pairs without any change do not prove a change below .05
    assert stats.mcnemar_exact(6, 1) > 0.05
    assert stats.mcnemar_exact(1, 0) > 0.05


def test_g04_pass_at_k_and_pass_hat_k() -> None:
    given, expected = case("G04")
    for row, wanted in zip(given["rows"], expected["rows"], strict=True):
        for function, key in ((stats.pass_at_k, "pass_at_k"), (stats.pass_hat_k, "pass_hat_k")):
            value = None if wanted[key] is None else pytest.approx(wanted[key], abs=expected["tolerance"])
            assert function(row["n"], row["c"], row["k"]) == value
    trials = [tuple(pair) for pair in given["dataset"]["trials_and_successes"]]
    for k in given["dataset"]["k"]:
        wanted = expected["dataset"][f"k{k}"]
        assert stats.pass_rate(trials, k, "any").estimate.value == pytest.approx(wanted["pass_at_k"], abs=1e-9)
        assert stats.pass_rate(trials, k, "all").estimate.value == pytest.approx(wanted["pass_hat_k"], abs=1e-9)
    scored = [trial == "pass" for trial in given["with_errors"]["trials"] if trial != "ERROR"]
    wanted = expected["with_errors"]
    assert (len(scored), sum(scored)) == (wanted["n"], wanted["c"])
    assert stats.pass_at_k(len(scored), sum(scored), 2) == wanted["pass_at_2"]
    assert stats.pass_hat_k(len(scored), sum(scored), 2) == pytest.approx(wanted["pass_hat_2"], abs=1e-9)
    short = stats.pass_rate([(3, 2), (4, 4)], 4)
    assert (short.records_short, short.estimate.n) == (1, 1)
    nothing = stats.pass_rate([(3, 2)], 4)
    assert (nothing.estimate.value, nothing.records_short) == (None, 1)
    assert nothing.estimate.reason == "no record has 4 scored trials"


def test_g05_kappa_and_alpha() -> None:
    given, expected = case("G05")
    first = given["kappa"][0]
    assert stats.cohen_kappa(first["judge"], first["human"]).value == pytest.approx(expected["kappa"][0], abs=1e-5)
    judge = [1] * 95 + [0] * 5
    human = [1] * 90 + [0] * 5 + [1] * 4 + [0]
    paradox = expected["kappa"][1]
    assert stats.observed_agreement(judge, human).value == pytest.approx(paradox["agreement"])
    assert stats.cohen_kappa(judge, human).value == pytest.approx(paradox["kappa"], abs=1e-5)
    constant = given["kappa"][2]
    assert stats.observed_agreement(constant["judge"], constant["human"]).value == 1.0
    undefined = stats.cohen_kappa(constant["judge"], constant["human"])
    assert (undefined.value, undefined.interval) == (None, None)
    assert undefined.reason
    rows = given["alpha_rows_are_raters_null_missing"]
    for scale, wanted in expected["alpha"].items():
        found = stats.krippendorff_alpha(rows, scale, stats.Resampling(seed=1))
        assert found.value == pytest.approx(wanted, abs=expected["tolerance"])
        assert found.interval is not None
    assert stats.krippendorff_alpha([[1, 1, 1], [1, 1, None]]).value is None


def test_d01_only_scored_results_enter_the_mean_and_its_interval() -> None:
    given, expected = case("D01")
    scores = [result["score"] for result in given["results"] if result["status"] == "SCORED"]
    found = stats.proportion_estimate(sum(scores), len(scores))
    assert found.n == expected["n_scored"]
    assert found.value == pytest.approx(expected["mean"], abs=1e-6)
    assert found.interval is not None
    assert [found.interval.low, found.interval.high] == pytest.approx(expected["wilson95"], abs=1e-6)


def test_f02_the_interval_of_a_corpus_metric_belongs_to_the_corpus_metric() -> None:
    sacrebleu = pytest.importorskip("sacrebleu")
    given, expected = case("F02")
    outputs, references = given["outputs"], given["references"]

    def bleu(weights: np.ndarray) -> list[float]:
        drawn = [np.repeat(np.arange(len(outputs)), row) for row in weights]
        return [
            sacrebleu.corpus_bleu([outputs[i] for i in rows], [[references[i] for i in rows]]).score for rows in drawn
        ]

    found = stats.bootstrap_statistic(bleu, len(outputs), stats.Resampling(seed=1, resamples=400))
    assert found.value == pytest.approx(expected["corpus_bleu"], abs=expected["tolerance"])
    assert found.value != pytest.approx(expected["mean_of_sentence_bleu_wrong"], abs=1)
    assert found.interval is not None
    assert expected["corpus_bleu"] in found.interval
