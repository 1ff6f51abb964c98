"""Comments that suppress findings, added and removed at random: the cache changes nothing of what is said."""

from hypothesis import HealthCheck, given, settings

from tests.command import Command

from .suppression_edits import EDITS, Edit, assert_each_run_says_what_a_run_without_a_cache_says


@settings(
    max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow]
)
@given(EDITS)
def test_each_run_says_what_a_run_without_a_cache_says(qten_gen: Command, edits: list[Edit]) -> None:
    assert_each_run_says_what_a_run_without_a_cache_says(qten_gen, edits)
