// Ghosts beyond a periodic end whose axes are turned.
#pragma once

#include <array>
#include <cstddef>
#include <utility>
#include <vector>

#include "parhelion/ghosts/ghost_array.hpp"

namespace parhelion {

/// A square matrix, row by row.
template <class T, std::size_t D>
using SquareMatrix = std::array<std::array<T, D>, D>;

namespace detail {

/// v ← m v
template <class T, std::size_t D>
void turn_vector(const SquareMatrix<T, D>& m, T* v) {
    std::array<T, D> turned{};
    for (std::size_t i = 0; i < D; ++i)
        for (std::size_t j = 0; j < D; ++j) turned[i] += m[i][j] * v[j];
    for (std::size_t i = 0; i < D; ++i) v[i] = turned[i];
}

/// t ← m t mᵀ
template <class T, std::size_t D>
void turn_tensor(const SquareMatrix<T, D>& m, T* t) {
    SquareMatrix<T, D> turned{};
    for (std::size_t i = 0; i < D; ++i)
        for (std::size_t j = 0; j < D; ++j)
            for (std::size_t a = 0; a < D; ++a)
                for (std::size_t b = 0; b < D; ++b) turned[i][j] += m[i][a] * t[a * D + b] * m[j][b];
    for (std::size_t i = 0; i < D; ++i)
        for (std::size_t j = 0; j < D; ++j) t[i * D + j] = turned[i][j];
}

template <class T, std::size_t D>
SquareMatrix<T, D> transposed(const SquareMatrix<T, D>& m) {
    SquareMatrix<T, D> result{};
    for (std::size_t i = 0; i < D; ++i)
        for (std::size_t j = 0; j < D; ++j) result[i][j] = m[j][i];
    return result;
}

}  // namespace detail

/// Rotates ghosts of `array` when they arrive, and their contributions back before they depart: entries `first` …
/// `first + D − 1` of the rows `ghosts` (local numbers) are a vector (`order` 1), or `first` … `first + D² − 1` a tensor of
/// order 2, row by row. `matrix` is orthogonal: the owner's axes as the reader sees them. Local; the same on every rank.
template <class T, class Layout, std::size_t D>
void rotate_on_arrival(GhostExchange& exchange, GhostArray<T, Layout> array, std::vector<local_index> ghosts,
                       const SquareMatrix<T, D>& matrix, int order = 1, std::size_t first = 0) {
    const auto turn_by = [=](const SquareMatrix<T, D>& m) {
        return [=]() mutable {
            for (local_index row : ghosts)
                order == 1 ? detail::turn_vector(m, array[row].data() + first) : detail::turn_tensor(m, array[row].data() + first);
        };
    };
    exchange.on_arrival(turn_by(matrix), turn_by(detail::transposed(matrix)));
}

}  // namespace parhelion
