from __future__ import annotations

import random
import struct
import sys
from array import array

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.stores.vectors import nearest

K = 10
CLOSE = st.floats(-1e-6, 2.5, allow_nan=False)
BORDERS = st.sampled_from([0.0, -0.0, 2.0, 1.0, 0.5, 2.0**-15, 2.0**-16, 5e-324, -1e-9, 0.03125, 2.0000001])
FEW = st.sampled_from([0.25, 0.25000001, 0.2656, 0.7])


def doubles(values: list[float]) -> memoryview[float]:
    return memoryview(array("d", values)).cast("B").cast("d")


@given(st.lists(st.one_of(CLOSE, BORDERS, FEW), min_size=1, max_size=60), st.sampled_from([1, 20, 64]))
def test_the_nearest_are_among_the_places_whatever_the_numbers_are(values: list[float], times: int) -> None:
    distances = doubles(values * times)
    places = nearest._near(distances, K)
    assert places == sorted(set(places))
    limit = sorted(distances)[min(K, len(distances)) - 1]
    assert {place for place, distance in enumerate(distances) if distance <= limit} <= set(places) or all(
        distances[place] == limit for place in set(range(len(distances))) - set(places) if distances[place] <= limit
    )
    assert sorted(map(distances.__getitem__, places))[:K] == sorted(distances)[:K]


@given(st.lists(st.one_of(CLOSE, BORDERS), min_size=1, max_size=200), st.one_of(CLOSE, BORDERS))
def test_no_number_up_to_the_limit_is_passed_over(values: list[float], limit: float) -> None:
    places = list(nearest._perhaps_within(doubles(values), limit))
    assert places == sorted(set(places))
    assert {place for place, value in enumerate(values) if value <= limit} <= set(places)


@given(st.lists(st.one_of(CLOSE, BORDERS, st.just(float("nan"))), min_size=1, max_size=200), st.one_of(CLOSE, BORDERS))
def test_numbers_up_to_a_limit_are_the_same_with_numpy_and_without(values: list[float], limit: float) -> None:
    import numpy  # noqa: F401

    by_numpy = nearest._within(doubles(values), limit)
    with pytest.MonkeyPatch.context() as without:
        without.delitem(sys.modules, "numpy")
        assert by_numpy == nearest._within(doubles(values), limit)
    assert by_numpy == [place for place, value in enumerate(values) if value <= limit]


@pytest.mark.parametrize("n_rows", [20_000, 200_000])
def test_few_of_many_numbers_are_looked_at(n_rows: int) -> None:
    """A question reads the bytes of all distances, but makes numbers of those alone that may be among the nearest."""
    chance = random.Random(3)
    distances = doubles([min(max(chance.gauss(0.85, 0.12), 0.0), 2.0) for _ in range(n_rows)])
    limit = sorted(distances)[2 * K]
    possible = list(nearest._perhaps_within(distances, limit))
    assert len(possible) < n_rows / 50


def test_a_distance_of_almost_nothing_is_not_lost_among_usual_ones() -> None:
    """Its first byte is another one, and its second one may be larger than those of all others."""
    (tiny,) = struct.unpack("d", struct.pack("d", 2.0**-20))
    distances = doubles([0.9] * 700 + [tiny] + [0.9] * 700 + [0.3] * 90)
    assert 700 in nearest._near(distances, 5)
