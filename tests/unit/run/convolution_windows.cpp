#include <doctest/doctest.h>

#include <poot/run/host/contraction.hpp>
#include <poot/run/host/convolution_windows.hpp>

#include <math.h>
#include <vector>

using namespace poot;
namespace host = poot::run::host;

namespace {
float (*volatile library_fma)(float, float, float) = ::fmaf;
float number(uint32 i) { return static_cast<float>(static_cast<int32>(i * 2654435761u) >> 9) * 0x1p-12f; }
}  // namespace

TEST_CASE("a product with windows is the convolution, for strides, padding, dilation and kernels larger than the image") {
  struct shape {
    int64 O, C, H, W, kh, kw, sy, sx, top, left, bottom, right, dy, dx;
  };
  const shape shapes[] = {{5, 3, 9, 11, 3, 3, 1, 1, 1, 1, 1, 1, 1, 1}, {33, 40, 7, 40, 3, 3, 2, 2, 1, 1, 0, 1, 1, 1},
                          {1, 1, 5, 5, 5, 5, 1, 1, 2, 2, 2, 2, 1, 1},  {4, 2, 8, 8, 3, 2, 1, 3, 2, 0, 2, 4, 2, 3},
                          {70, 130, 4, 4, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1}, {2, 2, 2, 2, 3, 3, 1, 1, 2, 2, 2, 2, 1, 1}};
  for (const shape& s : shapes) {
    const int64 OH = (s.H + s.top + s.bottom - s.dy * (s.kh - 1) - 1) / s.sy + 1;
    const int64 OW = (s.W + s.left + s.right - s.dx * (s.kw - 1) - 1) / s.sx + 1, K = s.C * s.kh * s.kw;
    std::vector<float> x(static_cast<size_t>(s.C * s.H * s.W)), w(static_cast<size_t>(s.O * K));
    for (size_t i = 0; i < x.size(); ++i) x[i] = number(static_cast<uint32>(i));
    for (size_t i = 0; i < w.size(); ++i) w[i] = number(static_cast<uint32>(i * 3 + 1));
    std::vector<float> expected;
    for (int64 o = 0; o < s.O; ++o)
      for (int64 oy = 0; oy < OH; ++oy)
        for (int64 ox = 0; ox < OW; ++ox) {
          volatile float total = 0;
          float sum = 0;
          int64 k = 0;
          for (int64 c = 0; c < s.C; ++c)
            for (int64 i = 0; i < s.kh; ++i)
              for (int64 j = 0; j < s.kw; ++j, ++k) {
                if (k && k % 256 == 0) total = total + sum, sum = 0;
                const int64 y = oy * s.sy - s.top + i * s.dy, z = ox * s.sx - s.left + j * s.dx;
                const bool inside = y >= 0 && y < s.H && z >= 0 && z < s.W;
                sum = library_fma(inside ? x[static_cast<size_t>((c * s.H + y) * s.W + z)] : 0.0f, w[static_cast<size_t>(o * K + k)], sum);
              }
          total = total + sum;
          expected.push_back(static_cast<float>(total));
        }
    const host::convolution_windows windows{x.data(), s.C, s.H, s.W, s.kh, s.kw, OH, OW, s.sy, s.sx, s.top, s.left, s.dy, s.dx};
    for (const int threads : {1, 2}) {
      host::pool p(threads);
      std::vector<float> c(expected.size());
      host::contract(s.O, windows.source(), {w.data(), K}, {c.data(), OH * OW}, p);
      CHECK(c == expected);
    }
  }
}
