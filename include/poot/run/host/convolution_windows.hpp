#pragma once
/// A convolution as a product: weights [O/g, C/g·kh·kw] times the windows of an image, which are made panel by panel
/// and never stored. K runs over (C/g, kh, kw); a tap in the padding is +0. The result [O/g, OH·OW] lies as the output.

#include <poot/ir/tensor.hpp>
#include <poot/run/host/contraction_kernels.hpp>

namespace poot::run::host {

/// The windows of one image and group; extents in elements, `image` f32 [channels, height, width].
struct convolution_windows {
  const float* image;
  int64 channels, height, width;  // channels of the group
  int64 kernel_height, kernel_width;
  int64 out_height, out_width;
  int64 stride_y, stride_x, pad_top, pad_left, dilation_y, dilation_x;

  int64 taps() const { return channels * kernel_height * kernel_width; }
  int64 positions() const { return out_height * out_width; }

  /// The right operand of the product. This object must outlive it.
  panel_source source() const { return source_of(positions(), taps(), make, this); }

 private:
  static void make(const void* context, int64 column0, int columns, int64 k0, int count, float* room) {
    const convolution_windows& w = *static_cast<const convolution_windows*>(context);
    int64 kx = k0 % w.kernel_width, ky = k0 / w.kernel_width % w.kernel_height, channel = k0 / (w.kernel_width * w.kernel_height);
    for (int k = 0; k < count; ++k, room += group_rows) {
      const float* plane = w.image + channel * w.height * w.width;
      int64 oy = column0 / w.out_width, ox = column0 % w.out_width;
      for (int c = 0; c < columns; ox = 0, ++oy) {  // one row of the output at a time
        const int run = static_cast<int>(w.out_width - ox < columns - c ? w.out_width - ox : columns - c);
        const int64 y = oy * w.stride_y - w.pad_top + ky * w.dilation_y, x = ox * w.stride_x - w.pad_left + kx * w.dilation_x;
        if (y < 0 || y >= w.height) std::memset(room + c, 0, static_cast<size_t>(run) * 4);
        else w.take(plane + y * w.width, x, run, room + c);
        c += run;
      }
      if (++kx == w.kernel_width) {
        kx = 0;
        if (++ky == w.kernel_height) ky = 0, ++channel;
      }
    }
  }

  /// `run` elements of a row of the image from x on, stride_x apart; +0 beyond its ends.
  void take(const float* line, int64 x, int run, float* to) const {
    if (stride_x == 1 && x >= 0 && x + run <= width) {
      std::memcpy(to, line + x, static_cast<size_t>(run) * 4);
      return;
    }
    for (int i = 0; i < run; ++i, x += stride_x) to[i] = x >= 0 && x < width ? line[x] : 0.0f;
  }
};

/// The shape of a convolution: x[N,C,H,W] and w[O,C/g,kh,kw]. K runs over (C/g, kh, kw), and a tap in the padding is +0.
struct convolution {
  tensor_type x, w, r;
  view<int64> at;  ///< stride[2] pad[4] dilation[2] groups
  int64 groups, outputs, taps, positions;

  convolution(const tensor_type& image, const tensor_type& kernel, const tensor_type& result, view<int64> attrs)
      : x(image), w(kernel), r(result), at(attrs), groups(attrs[8]), outputs(r.extents[1].code / attrs[8]),
        taps(w.extents[1].code * w.extents[2].code * w.extents[3].code), positions(r.extents[2].code * r.extents[3].code) {}

  int64 image_elements() const { return x.extents[1].code * x.extents[2].code * x.extents[3].code; }

  /// The element of x that `tap` reads for result `position` of a group; -1 in the padding.
  int64 element(int64 image, int64 group, int64 tap, int64 position) const {
    const int64 kh = w.extents[2].code, kw = w.extents[3].code, ow = r.extents[3].code;
    const int64 channel = group * w.extents[1].code + tap / (kh * kw);
    const int64 y = position / ow * at[0] - at[2] + tap / kw % kh * at[6];
    const int64 z = position % ow * at[1] - at[4] + tap % kw * at[7];
    if (y < 0 || y >= x.extents[2].code || z < 0 || z >= x.extents[3].code) return -1;
    return ((image * x.extents[1].code + channel) * x.extents[2].code + y) * x.extents[3].code + z;
  }

  /// The windows of one group of an f32 image [C, H, W].
  convolution_windows windows(const float* image, int64 group) const {
    const int64 channels = w.extents[1].code, height = x.extents[2].code, width = x.extents[3].code;
    return {image + group * channels * height * width, channels, height, width, w.extents[2].code, w.extents[3].code,
            r.extents[2].code, r.extents[3].code, at[0], at[1], at[2], at[4], at[6], at[7]};
  }
};

}  // namespace poot::run::host
