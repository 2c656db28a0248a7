"""Kriging at bounded cost: every prediction rests on a few landmarks and on its near neighbours.

With values f at centers X, the landmarks L (a spread of X) and the neighbours N(x) of a query x,

    f(x) ~ E[f(x) | f_L, f_N(x)] = A(x) f_L + w(x) (f_N - A_N f_L),

where A(x) = k(x, L) (K_L + noise)^-1, and w(x) solves the small system of the residual kernel
k_r(x, y) = k(x, y) - k(x, L) K_L^-1 k(L, y) over the neighbours. Landmarks carry what is smooth,
neighbours what is local. The weights do not depend on f, so they are computed once for many f.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import cholesky, solve_triangular
from scipy.sparse import csr_array
from scipy.spatial import cKDTree
from scipy.spatial.distance import cdist

from powr.kernels import Stationary

# Added to the variance of a landmark and of a neighbour: repeated centers leave systems singular.
_LANDMARK_JITTER = 1e-10
_NEIGHBOUR_JITTER = 1e-8

# Each grid's cells are longer than those of the last by this factor; in six dimensions that drops
# three cells in four. Stop coarsening below n_points / _FEW points.
_COARSER = 1.25
_FEW = 4

# Candidates for points that are far from each other, as a multiple of the number wanted.
_CANDIDATES = 8

# Queries worked on at once: few enough for their neighbours' features to stay in cache, and in many
# dimensions for the differences between neighbours to be no more numbers than these.
_ROWS = 256
_LARGEST_DIFFERENCES = 2**23


@dataclass
class Weights:
    """A linear map from values at the centers to values at the queries.

    `landmarks` is (queries, landmarks), `neighbours` a sparse (queries, centers).
    """

    landmark_centers: NDArray
    landmarks: NDArray
    neighbours: csr_array

    def __matmul__(self, values: NDArray) -> NDArray:
        return self.landmarks @ values[self.landmark_centers] + self.neighbours @ values


class Kriging:
    """Predictions from values at `centers`, (n, d), under a stationary kernel.

    `noise` is the variance of the values as a share of the kernel's. With as many landmarks as
    centers there are no neighbours to add: the prediction is exact.
    """

    def __init__(
        self,
        kernel: Stationary,
        centers: NDArray,
        noise: float,
        *,
        n_landmarks: int,
        n_neighbours: int,
    ):
        self.kernel = kernel
        self.centers = centers = kernel.scaled(centers)
        self.noise = noise
        self.n_neighbours = min(n_neighbours, len(centers))
        self.landmark_numbers = farthest_points(centers, n_landmarks)
        self._landmarks = centers[self.landmark_numbers]
        gram = kernel.of_distances(cdist(self._landmarks, self._landmarks))
        gram[np.diag_indices_from(gram)] += noise + _LANDMARK_JITTER
        self._factor = cholesky(gram, lower=True)
        # Rows are the features of centers, so that those of a query's neighbours lie together.
        self._features = self._features_of(centers)
        self._onto_landmarks = self._interpolation(self._features)
        has_neighbours = len(self.landmark_numbers) < len(centers)
        self._tree = cKDTree(centers) if has_neighbours else None

    def weights(self, queries: NDArray) -> Weights:
        queries = self.kernel.scaled(queries)
        features = self._features_of(queries)
        landmarks = self._interpolation(features)
        shape = (len(queries), len(self.centers))
        if self._tree is None:
            return Weights(self.landmark_numbers, landmarks, csr_array(shape))
        m = self.n_neighbours
        numbers = np.reshape(self._tree.query(queries, k=m)[1], (-1, m))
        local = np.empty((len(queries), m))
        n_rows = max(1, min(_ROWS, _LARGEST_DIFFERENCES // (m * m * queries.shape[1])))
        for start in range(0, len(queries), n_rows):
            rows = slice(start, start + n_rows)
            local[rows] = self._local(queries[rows], features[rows], numbers[rows])
            landmarks[rows] -= np.einsum(
                "qm,qml->ql", local[rows], self._onto_landmarks[numbers[rows]]
            )
        starts = np.arange(0, local.size + 1, m)
        neighbours = csr_array((local.ravel(), numbers.ravel(), starts), shape=shape)
        return Weights(self.landmark_numbers, landmarks, neighbours)

    def _local(self, queries: NDArray, features: NDArray, numbers: NDArray) -> NDArray:
        """The neighbours' weights under the residual kernel."""
        near, near_features = self.centers[numbers], self._features[numbers]
        to_query = self.kernel.of_distances(distances(queries[:, None], near)[:, 0])
        to_query -= np.matmul(near_features, features[:, :, None])[:, :, 0]
        among = self.kernel.of_distances(distances(near, near))
        among -= near_features @ near_features.transpose(0, 2, 1)
        diagonal = np.arange(numbers.shape[1])
        among[:, diagonal, diagonal] += self.noise + _NEIGHBOUR_JITTER
        return np.linalg.solve(among, to_query[:, :, None])[:, :, 0]

    def _features_of(self, states: NDArray) -> NDArray:
        cross = self.kernel.of_distances(cdist(self._landmarks, states))
        return solve_triangular(self._factor, cross, lower=True, overwrite_b=True).T.copy()

    def _interpolation(self, features: NDArray) -> NDArray:
        return solve_triangular(self._factor, features.T, lower=True, trans=1).T.copy()


def distances(x: NDArray, y: NDArray) -> NDArray:
    """Distances between the points of each of q sets: (q, n, d) and (q, m, d) to (q, n, m)."""
    return np.sqrt(((x[:, :, None] - y[:, None, :]) ** 2).sum(axis=-1))


def farthest_points(points: NDArray, n_points: int) -> NDArray:
    """Numbers of points that are far from each other: each is the farthest from those before."""
    numbers = [0]
    distances = ((points - points[0]) ** 2).sum(axis=1)
    while len(numbers) < min(n_points, len(points)):
        farthest = int(distances.argmax())
        if distances[farthest] == 0.0:
            break
        numbers.append(farthest)
        np.minimum(distances, ((points - points[farthest]) ** 2).sum(axis=1), out=distances)
    return np.array(numbers)


def spread(points: NDArray, n_points: int, cell: float = 1e-3) -> NDArray:
    """Numbers of at most `n_points` points that cover the others: one per cell of a grid.

    The grid starts with cells of the size `cell` and is made coarser until few enough of them are
    taken. Of a cell the first point is kept. In many dimensions one grid may have too many cells
    and the next hardly any: then points of the finer one are kept that are far from each other.
    """
    if len(points) == 0:
        return np.empty(0, int)
    chosen, size = one_per_cell(points, cell), cell
    # Cells larger than this are the orthants around 0, whatever their size.
    largest_size = np.abs(points).max()
    while len(chosen) > n_points:
        finer, size = chosen, _COARSER * size
        chosen = finer[one_per_cell(points[finer], size)]
        if len(chosen) < n_points // _FEW or (len(chosen) > n_points and size > largest_size):
            candidates = finer[:: -(-len(finer) // (_CANDIDATES * n_points))]
            return candidates[np.sort(farthest_points(points[candidates], n_points))]
    return chosen


def one_per_cell(points: NDArray, size: float) -> NDArray:
    """Numbers of the first point in each cell of a grid, in ascending order."""
    # One number per cell sorts quicker than its coordinates do.
    mixing = np.random.default_rng(0).integers(2**62, size=points.shape[1])
    cells = np.floor(points / size).astype(np.int64) @ mixing
    return np.sort(np.unique(cells, return_index=True)[1])
