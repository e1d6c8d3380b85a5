"""Pack text: equal to the reference implementations, right where those are silent, quick."""

import time
import unicodedata
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from nltk.translate.meteor_score import single_meteor_score
from rouge_score import rouge_scorer
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.metrics.chrf import CHRF
from sacrebleu.metrics.ter import TER

from evalsi.core.errors import InvalidParamsError, MissingExtraError
from evalsi.engine.dataset_scope import DatasetFold
from evalsi.evaluators import catalog
from evalsi.evaluators.api import EvalContext
from evalsi.evaluators.binding import bind
from evalsi.evaluators.packs.text.corpus_scores import bootstrap_interval
from evalsi.evaluators.packs.text.meteor import align
from evalsi.schema import Scope
from tests.case_files import case
from tests.evaluators.measuring import bound, called, columns, definitions, record, result, value

WORDS = st.lists(
    st.sampled_from("the a cat cats sat sitting on mat mats lamp red is, runs running Ünï.".split()),
    min_size=1,
    max_size=12,
)
SENTENCES = WORDS.map(" ".join)
PARAGRAPHS = st.lists(SENTENCES, min_size=1, max_size=4).map("\n".join)
ANY_TEXT = st.text(max_size=40)
PER_RECORD = ["bleu", "chrf", "ter", "rouge", "meteor", "token-f1"]
INTERFACE_PARAMS = {
    "bleu": {"max_n": 4},
    "chrf": {"beta": 2, "max_n": 6},
    "corpus-bleu": {"max_n": 4},
    "rouge": {},
    "token-f1": {},
}


class NoWordnet:
    """A thesaurus without synonyms, so that the oracle matches exactly and by stem only."""

    def synsets(self, word):
        return []


NO_WORDNET: Any = NoWordnet()


class LetterCounts:
    """A real, if simple, embedder: how often each letter occurs."""

    def encode(self, texts):
        return np.array(
            [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts], dtype=float
        )


def reduced(name, records, *, seed=0, **params):
    """The one score of a dataset-scope evaluator, from batches of two records."""
    fold = DatasetFold(bound(name, seed=seed, **params))
    for start in range(0, len(records), 2):
        fold.add(records[start : start + 2])
    built = fold.reduce()
    return built.columns[name].values[0], built.notes[0]


DEFINITIONS = definitions("text")


@pytest.mark.parametrize(
    "definition", [d for d in DEFINITIONS if "expected" in d.example], ids=lambda definition: definition.name
)
def test_every_example_gives_what_the_catalog_says(definition):
    example = definition.example
    evaluator = bind(definition, context=EvalContext(), params=example.get("params"))
    if definition.scope is Scope.DATASET:
        records = [record(row["output"], row["reference"]) for row in example["records"]]
        found = {definition.name: evaluator.instance.reduce(evaluator.instance.map(records)).number}
    else:
        found = called(evaluator, record(example["record"]["output"], example["record"]["reference"]))
        found = found if isinstance(found, dict) else {definition.name: found}
    assert found == pytest.approx(example["expected"], abs=1e-6)


def test_only_the_evaluator_that_needs_a_model_has_no_expected_value():
    assert [d.name for d in DEFINITIONS if "expected" not in d.example] == ["embedding-similarity"]


@pytest.mark.parametrize(("name", "defaults"), INTERFACE_PARAMS.items())
def test_names_versions_and_defaults_are_those_of_the_interface(name, defaults):
    params = catalog.load(f"builtin/{name}@1.0.0").make_params({})
    assert {key: getattr(params, key) for key in defaults} == defaults


F01 = list(enumerate(zip(case("F01")["input"]["rows"], case("F01")["expected"]["rows"], strict=True), start=1))


@pytest.mark.parametrize(("number", "row"), F01)
def test_sentence_scores_follow_the_case(number, row):
    pair, expected = row
    output, reference = pair["output"], pair["reference"]
    found = {
        "bleu": value("bleu", output, reference) * 100,
        "chrf": value("chrf", output, reference) * 100,
        "chrf_pp": value("chrf", output, reference, word_order=2) * 100,
        "ter": value("ter", output, reference) * 100,
        **{key: score for key, score in value("rouge", output, reference).items() if key != "rougeLsum"},
    }
    if number in (9, 10):  # the case's flag: a Unicode tokeniser should see that the texts are identical
        expected = {**expected, "rouge1": 1.0, "rouge2": 1.0, "rougeL": 1.0}
    if number == 11:  # the case's flag: normalised first, the row is a perfect match
        expected = {"bleu": 100, "chrf": 100, "chrf_pp": 100, "ter": 0, "rouge1": 1, "rouge2": 1, "rougeL": 1}
    assert found == pytest.approx(expected, abs=case("F01")["expected"]["tolerance"])


def f02_records(second=False):
    given = case("F02")["input"]
    others = given["second_references"] if second else [None] * 4
    return [
        record(output, [reference, other] if second else reference)
        for output, reference, other in zip(given["outputs"], given["references"], others, strict=True)
    ]


def test_corpus_scores_follow_the_case():
    expected = case("F02")["expected"]
    score, note = reduced("corpus-bleu", f02_records())
    details = note.details["corpus-bleu"]
    assert score * 100 == pytest.approx(expected["corpus_bleu"], abs=1e-4)
    assert details["brevity_penalty"] == pytest.approx(expected["brevity_penalty"], abs=1e-4)
    assert [100 * p for p in details["precisions"]] == pytest.approx(expected["precisions"], abs=1e-4)
    assert [details["output_tokens"], details["reference_tokens"]] == expected["lengths"]
    assert details["signature"].rpartition("|")[0] == expected["signature"].rpartition("|")[0]
    assert reduced("corpus-chrf", f02_records())[0] * 100 == pytest.approx(expected["corpus_chrf"], abs=1e-4)


def test_records_may_have_different_numbers_of_references():
    score, note = reduced("corpus-bleu", f02_records(second=True))
    assert score * 100 == pytest.approx(case("F02")["expected"]["corpus_bleu_two_refs"], abs=1e-4)
    assert note.details["corpus-bleu"]["signature"].startswith("nrefs:var|")


def test_summaries_follow_the_case():
    pair = case("F02")["input"]["summary_pair"]
    found = value("rouge", pair["output"], pair["reference"])
    assert found["rougeL"] == pytest.approx(case("F02")["expected"]["rougeL"])
    assert found["rougeLsum"] == pytest.approx(case("F02")["expected"]["rougeLsum"])


def test_the_interval_belongs_to_the_corpus_score_and_is_a_function_of_the_seed():
    records = f02_records() * 10
    score, note = reduced("corpus-bleu", records, seed=1)
    interval = note.details["corpus-bleu"]["ci"]
    assert interval["low"] < score < interval["high"]
    assert reduced("corpus-bleu", records, seed=1)[1].details["corpus-bleu"]["ci"] == interval
    assert reduced("corpus-bleu", records, seed=2)[1].details["corpus-bleu"]["ci"] != interval


def test_the_interval_agrees_with_sacrebleus_own_bootstrap():
    given = case("F02")["input"]
    outputs, references = given["outputs"] * 15, given["references"] * 15
    theirs = BLEU().corpus_score(outputs, [references], n_bootstrap=1000)
    _, note = reduced("corpus-bleu", [record(o, r) for o, r in zip(outputs, references, strict=True)])
    interval = note.details["corpus-bleu"]["ci"]
    assert (interval["high"] - interval["low"]) * 50 == pytest.approx(theirs._ci, rel=0.1)


def test_an_interval_without_width_is_not_given():
    same = [record("the lamp is on the desk", "the lamp is on the desk")] * 5
    score, note = reduced("corpus-bleu", same)
    assert score == pytest.approx(1.0)
    assert "ci" not in note.details["corpus-bleu"]
    assert "ci" not in reduced("corpus-chrf", same[:1])[1].details["corpus-chrf"]


def test_a_large_corpus_gets_the_interval_of_the_small_one_scaled():
    generator = np.random.default_rng(3)
    rows = generator.integers(0, 20, size=(19_999, 10)).astype(np.int32)

    def share(counts):
        return sum(counts[:5]) / sum(counts)

    exact = bootstrap_interval(rows, share, seed=0, level=0.95, resamples=400)
    limit = bootstrap_interval(np.concatenate([rows, rows[:1]]), share, seed=0, level=0.95, resamples=400)
    assert exact is not None
    assert limit is not None
    assert limit == pytest.approx(exact, abs=4e-4)
    assert limit[1] - limit[0] == pytest.approx(exact[1] - exact[0], rel=0.15)


def test_ten_thousand_records_are_resampled_a_thousand_times_in_a_second():
    rows = np.random.default_rng(0).integers(1, 30, size=(10_000, 10)).astype(np.int32)
    metric = BLEU()
    started = time.process_time()
    interval = bootstrap_interval(
        rows, lambda counts: metric._compute_score_from_stats(list(counts)).score, seed=0, level=0.95
    )
    assert interval is not None
    assert time.process_time() - started < 1


def test_a_corpus_without_any_reference_is_skipped_and_blank_lists_count_as_none():
    fold = DatasetFold(bound("corpus-bleu"))
    fold.add([record("a b c d"), record("a b", [])])
    assert fold.reduce().notes[0].reason


@settings(max_examples=60, deadline=None)
@given(SENTENCES, st.lists(SENTENCES, min_size=1, max_size=3))
def test_bleu_chrf_and_ter_equal_sacrebleu(output, references):
    nfc = [unicodedata.normalize("NFC", text) for text in references]
    given_ = references if len(references) > 1 else references[0]
    assert value("bleu", output, given_) * 100 == pytest.approx(
        BLEU(effective_order=True).sentence_score(output, nfc).score
    )
    assert value("chrf", output, given_) * 100 == pytest.approx(CHRF().sentence_score(output, nfc).score)
    assert value("ter", output, given_) * 100 == pytest.approx(TER().sentence_score(output, nfc).score)


@settings(max_examples=25, deadline=None)
@given(st.lists(st.tuples(SENTENCES, SENTENCES), min_size=1, max_size=6), st.sampled_from([0, 2]))
def test_corpus_scores_equal_sacrebleu_however_the_records_are_batched(pairs, word_order):
    outputs, references = map(list, zip(*pairs, strict=True))
    records = [record(output, reference) for output, reference in pairs]
    assert reduced("corpus-bleu", records)[0] * 100 == pytest.approx(BLEU().corpus_score(outputs, [references]).score)
    theirs = CHRF(word_order=word_order).corpus_score(outputs, [references]).score
    assert reduced("corpus-chrf", records, word_order=word_order)[0] * 100 == pytest.approx(theirs)


@settings(max_examples=200, deadline=None)
@given(PARAGRAPHS, PARAGRAPHS, st.booleans())
def test_rouge_equals_rouge_score_on_latin_text(output, reference, stemmer):
    kinds = ["rouge1", "rouge2", "rougeL", "rougeLsum"]
    theirs = rouge_scorer.RougeScorer(kinds, use_stemmer=stemmer).score(reference, output)
    ours = value("rouge", output, reference, stemmer=stemmer)
    assert ours == pytest.approx({kind: theirs[kind].fmeasure for kind in kinds})


@settings(max_examples=200, deadline=None)
@given(st.text("ab c\n", max_size=40), st.text("ab c\n", max_size=40))
def test_rouge_lsum_breaks_ties_as_rouge_score_does(output, reference):
    theirs = rouge_scorer.RougeScorer(["rougeLsum"]).score(reference, output)["rougeLsum"].fmeasure
    found = value("rouge", output, reference, reasoning_tags=[])
    assert found["rougeLsum"] == pytest.approx(theirs)


@pytest.mark.parametrize("text", ["東京は晴れです", "кот спит", "हिन्दी भाषा", "สวัสดีครับ", "한국어 문장"])
def test_identical_text_of_any_script_scores_one_and_names_its_tokeniser(text):
    found = result("rouge", text, text)
    assert {score.name: score.number for score in found.scores} == {
        "rouge1": 1.0, "rouge2": 1.0, "rougeL": 1.0, "rougeLsum": 1.0
    }  # fmt: skip
    assert all(score.metadata == {"tokenizer": "unicode-words"} for score in found.scores)


def test_a_language_with_accents_is_latin_text():
    theirs = rouge_scorer.RougeScorer(["rouge1"]).score("le café est ouvert", "un café ouvert")["rouge1"].fmeasure
    assert value("rouge", "un café ouvert", "le café est ouvert")["rouge1"] == pytest.approx(theirs)
    assert value("rouge", "un café ouvert", "le café est ouvert", tokenizer="unicode")["rouge1"] == pytest.approx(4 / 7)


def test_thousands_of_words_are_compared_quickly():
    words = [f"w{number % 700}" for number in range(2_000)]
    started = time.process_time()
    value("rouge", " ".join(words), " ".join(reversed(words)))
    assert time.process_time() - started < 0.5


DISTINCT = st.lists(
    st.sampled_from("dog cats running lamp shining house tables quickly bird flies green under".split()),
    unique=True,
    min_size=1,
)


@settings(deadline=None)
@given(DISTINCT, DISTINCT, st.sampled_from([(0.9, 3.0, 0.5), (0.5, 1.0, 0.3)]))
def test_meteor_equals_nltk_where_no_word_repeats(output, reference, weights):
    alpha, beta, gamma = weights
    theirs = single_meteor_score(reference, output, wordnet=NO_WORDNET, alpha=alpha, beta=beta, gamma=gamma)
    ours = value("meteor", " ".join(output), " ".join(reference), alpha=alpha, beta=beta, gamma=gamma)
    assert ours == pytest.approx(theirs)


@settings(deadline=None)
@given(st.lists(st.sampled_from("abc"), max_size=7), st.lists(st.sampled_from("abc"), max_size=7))
def test_meteors_alignment_is_the_best_there_is(given_, wanted):
    assert tuple(align(given_, wanted)) == best_alignment(given_, wanted)


def best_alignment(given_, wanted):
    """(most matches, then fewest chunks) by trying everything."""
    best = (0, 0)

    def walk(index, taken, last, matches, chunks):
        nonlocal best
        if index == len(given_):
            best = max(best, (matches, chunks), key=lambda found: (found[0], -found[1]))
            return
        walk(index + 1, taken, None, matches, chunks)
        for place, word in enumerate(wanted):
            if word == given_[index] and place not in taken:
                follows = last is not None and place == last + 1
                walk(index + 1, taken | {place}, place, matches + 1, chunks + (not follows))

    walk(0, frozenset(), None, 0, 0)
    return best


def test_meteor_without_stems_matches_words_as_they_are():
    assert value("meteor", "cats", "cat") == pytest.approx(0.5)
    assert value("meteor", "cats", "cat", stems=False) == 0.0


@pytest.mark.parametrize(
    ("output", "reference", "f1"),
    [
        ("The lamp, a red one.", "lamp red", 0.8),
        ("東京は雨", "東京は晴れ", 6 / 9),
        ("Paris", "Paris, France", 2 / 3),
        ("", "Paris", 0.0),
        ("the the the", "lamp", 0.0),
        ("red red blue", "red blue blue", 2 / 3),
    ],
)
def test_token_f1_counts_shared_tokens(output, reference, f1):
    assert value("token-f1", output, reference) == pytest.approx(f1)


def test_token_f1_never_scores_against_nothing_unless_asked():
    assert value("token-f1", "", "") == "SKIPPED"
    assert value("token-f1", "anything", "the!") == "SKIPPED"
    assert value("token-f1", "", "", allow_empty_reference=True) == 1.0
    assert value("token-f1", "Paris", "", allow_empty_reference=True) == 0.0


def test_token_f1_may_keep_words_as_they_are_written():
    assert value("token-f1", "The lamp", "the lamp", squad_normalize=False) == 0.5


@pytest.mark.parametrize("name", PER_RECORD)
def test_reasoning_is_never_compared(name):
    reference = "the lamp is on the desk"
    assert value(name, f"<think>hm, hm</think>{reference}", reference) == value(name, reference, reference)


@pytest.mark.parametrize("name", PER_RECORD)
def test_of_several_references_the_best_counts(name):
    given_, references = "the lamp is on the desk", ["a door", "the lamp is on the desk"]
    assert value(name, given_, references) == value(name, given_, references[1])


@settings(max_examples=40, deadline=None)
@given(ANY_TEXT, ANY_TEXT)
@pytest.mark.parametrize("name", PER_RECORD)
def test_no_text_breaks_a_metric_and_forms_make_no_difference(name, output, reference):
    found = result(name, output, reference)
    assert found.outcome.name in ("SCORED", "SKIPPED")
    decomposed = result(name, unicodedata.normalize("NFD", output), unicodedata.normalize("NFD", reference))
    assert [score.number for score in decomposed.scores] == [score.number for score in found.scores]


@pytest.mark.parametrize("name", ["bleu", "chrf", "rouge", "token-f1"])
@given(SENTENCES)
def test_identical_texts_score_one(name, text):
    found = value(name, f"lamp {text} lamp", f"lamp {text} lamp")
    scores = found.values() if isinstance(found, dict) else [found]
    assert list(scores) == pytest.approx([1.0] * len(scores))


@settings(max_examples=30)
@given(SENTENCES, SENTENCES)
def test_overlap_is_symmetric(output, reference):
    assert value("rouge", output, reference) == pytest.approx(value("rouge", reference, output))
    forth, back = value("token-f1", output, reference), value("token-f1", reference, output)
    assert "SKIPPED" in (forth, back) or forth == pytest.approx(back)


@pytest.mark.parametrize("name", [d.name for d in DEFINITIONS if d.bounded])
@pytest.mark.parametrize(
    "text",
    ["the red lamp is on. " * 5_000, "東京は晴れです" * 6_000, "a" * 100_000, "line\n" * 20_000],
    ids=["words", "cjk", "run", "lines"],
)
def test_a_bounded_metric_of_100_kilobytes_takes_less_than_a_second(name, text):
    subject, of_datasets = record(text, text[::-1]), bound(name).scope is Scope.DATASET
    started = time.process_time()
    reduced(name, [subject]) if of_datasets else columns(name, subject)
    assert time.process_time() - started < 1


def test_embeddings_of_a_named_object_are_compared():
    params = {"model": f"{__name__}:LetterCounts"}
    assert value("embedding-similarity", "abc", "cab", **params) == pytest.approx(1.0)
    assert value("embedding-similarity", "abc", "xyz", **params) == 0.0
    assert value("embedding-similarity", "aab", ["b", "aab"], **params) == pytest.approx(1.0)
    assert value("embedding-similarity", "", "abc", **params) == 0.0


def test_a_model_that_cannot_be_had_is_refused_at_once():
    with pytest.raises(InvalidParamsError, match="nowhere"):
        bound("embedding-similarity", model="nowhere.at_all:Thing")
    with pytest.raises(InvalidParamsError, match="encode"):
        bound("embedding-similarity", model="math:pi")
    with pytest.raises(InvalidParamsError, match="model"):
        bound("embedding-similarity")


def test_a_sentence_transformers_model_needs_the_extra(monkeypatch):
    monkeypatch.setattr("evalsi.evaluators.packs.text.embedding_similarity.find_spec", lambda name: None)
    with pytest.raises(MissingExtraError, match="embeddings"):
        bound("embedding-similarity", model="all-MiniLM-L6-v2")


def test_signatures_say_how_a_score_was_made():
    evaluator = bound("bleu")
    called(evaluator, record("a lamp", "the lamp"))
    assert evaluator.instance.signature().startswith("nrefs:1|case:mixed|eff:yes|tok:13a|smooth:exp")
