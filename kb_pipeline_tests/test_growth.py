import pytest

from kb_pipeline_tests.growth import grows_in_proportion


def test_linear_work_grows_in_proportion() -> None:
    assert grows_in_proportion(lambda size: [str(number) for number in range(size)], 400_000)


@pytest.mark.slow("builds a whole knowledge base")
def test_quadratic_work_does_not() -> None:
    assert not grows_in_proportion(lambda size: [number in range(0) for number in range(size * size)], 800)


def test_work_that_takes_no_time_does() -> None:
    assert grows_in_proportion(lambda size: size, 8)
