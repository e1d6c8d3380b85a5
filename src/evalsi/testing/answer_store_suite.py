"""What every `AnswerStore` must do, as tests. A store passes when a subclass of `AnswerStoreSuite` with `answers` does."""

from datetime import UTC, datetime, timedelta

from evalsi.ports.answer_store import AnswerKey, AnswerStore, KeptAnswer

NOON = datetime(2026, 3, 1, 12, tzinfo=UTC)
DAY = timedelta(days=1)
PLACE = AnswerKey("RunService.CreateRun", "key:ci", "größe\x00-1")
ANSWER = KeptAnswer("digest", b"\x00\xff answer")


class AnswerStoreSuite:
    """Every test takes the fixture `answers`: an empty store."""

    def test_an_answer_is_found_by_method_caller_and_key(self, answers: AnswerStore) -> None:
        answers.keep(PLACE, ANSWER, at=NOON, since=NOON - DAY)
        assert answers.find(PLACE, since=NOON) == ANSWER
        for field in ("method", "caller", "key"):
            assert answers.find(PLACE._replace(**{field: "other"}), since=NOON) is None

    def test_an_old_answer_is_not_given_and_makes_room(self, answers: AnswerStore) -> None:
        answers.keep(PLACE, ANSWER, at=NOON, since=NOON - DAY)
        later = NOON + timedelta(hours=25)
        assert answers.find(PLACE, since=later - DAY) is None
        newer = KeptAnswer("other", b"new")
        answers.keep(PLACE, newer, at=later, since=later - DAY)
        assert answers.find(PLACE, since=later - DAY) == newer

    def test_the_first_of_two_answers_stays(self, answers: AnswerStore) -> None:
        answers.keep(PLACE, ANSWER, at=NOON, since=NOON - DAY)
        answers.keep(PLACE, KeptAnswer("other", b""), at=NOON + timedelta(hours=1), since=NOON - DAY)
        assert answers.find(PLACE, since=NOON) == ANSWER

    def test_what_is_forgotten_is_what_is_old(self, answers: AnswerStore) -> None:
        for hour in range(4):
            at = NOON + timedelta(hours=hour)
            answers.keep(PLACE._replace(key=str(hour)), ANSWER, at=at, since=NOON - DAY)
        assert answers.forget(older_than=NOON + timedelta(hours=2)) == 2
        assert [answers.find(PLACE._replace(key=str(hour)), since=NOON) is None for hour in range(4)] == [
            True,
            True,
            False,
            False,
        ]
