// Movement of every storage: bits come through undecoded, those of NaNs and of packed blocks too; places outside are moved
// to the edge. States that are updated where they lie.
#include "sample.hpp"

namespace poot_tests {

namespace {

sample transposes(const std::string& name, dtype t) {
  sample_maker m(name);
  for (const std::vector<int64>& p : {std::vector<int64>{0, 1, 3, 2}, {3, 2, 1, 0}, {2, 0, 3, 1}, {1, 0, 2, 3}}) m.result(m.apply(op::transpose, {m.input(type_of(t, 2, 3, 5, 7))}, p));
  m.result(m.apply(op::transpose, {m.input(type_of(t, 67, 33))}, {1, 0}));
  m.result(m.apply(op::transpose, {m.input(type_of(t, 0, 3))}, {1, 0}));
  m.result(m.apply(op::transpose, {m.input(type_of(t, 1, 257))}, {1, 0}));
  return m.finish_moving();
}

sample slices(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 x = m.input(type_of(t, 5, 4, 9)), row = m.input(type_of(t, 4099));
  m.result(m.apply(op::slice, {x}, {1, 0, 1, 3, 4, 7, 1, 1, 1}));
  m.result(m.apply(op::slice, {x}, {0, 1, 2, 3, 2, 3, 2, 2, 3}));
  m.result(m.apply(op::slice, {x}, {2, 0, 0, 2, 4, 9, 1, 1, 1}));
  m.result(m.apply(op::slice, {x}, {0, 3, 8, 5, 1, 1, 1, 1, 1}));
  m.result(m.apply(op::slice, {x}, {5, 0, 0, 0, 4, 9, 1, 1, 1}));
  for (int64 start : {0, 1, 2, 3}) m.result(m.apply(op::slice, {row}, {start, 257, 1}));
  m.result(m.apply(op::slice, {row}, {3, 1365, 3}));
  return m.finish_moving();
}

sample concatenations(const std::string& name, dtype t) {
  sample_maker m(name);
  for (int64 axis = 0; axis < 3; ++axis) {
    const auto part = [&](int64 along) { return m.input(type_of(t, 2, 3, 5).with(static_cast<int>(axis), extent(along))); };
    const uint32 a = part(1), b = part(4), c = part(0), d = part(2);
    m.result(m.apply(op::concat, {a, b, c, d, a}, {axis}));
  }
  m.result(m.apply(op::concat, {m.input(type_of(t, 255)), m.input(type_of(t, 1)), m.input(type_of(t, 257))}, {0}));
  return m.finish_moving();
}

sample broadcasts(const std::string& name, dtype t) {
  sample_maker m(name);
  const auto to = [&](const std::vector<int64>& from, const std::vector<int64>& extents) {
    m.result(m.apply(op::broadcast, {m.input(shaped(t, from))}, {}, shaped(t, extents)));
  };
  to({}, {257});
  to({7}, {2, 3, 5, 7});
  to({2, 1, 5, 1}, {2, 3, 5, 7});
  to({1, 3, 1, 7}, {2, 3, 5, 7});
  to({1}, {0});
  to({3, 1}, {3, 0});
  return m.finish_moving();
}

/// A reshape is no dispatch; what reads and writes around it is.
sample reshapes(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 x = m.input(type_of(t, 6, 35)), turned = m.apply(op::transpose, {x}, {1, 0});
  m.result(m.apply(op::reshape, {x}, {}, type_of(t, 2, 3, 5, 7)));
  m.result(m.apply(op::transpose, {m.apply(op::reshape, {turned}, {}, type_of(t, 10, 21))}, {1, 0}));
  m.result(m.apply(op::reshape, {m.input(type_of(t, 1, 1))}, {}, type_of(t)));
  return m.finish_moving();
}

sample gathers(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 x = m.input(type_of(t, 4, 6, 5));
  for (int64 axis = 0; axis < 3; ++axis) {
    const int64 count = m.type(x).extents[axis].code;
    m.result(m.apply(op::gather, {x, m.places(type_of(i32, 11), count)}, {axis}));
    m.result(m.apply(op::gather, {x, m.places(type_of(i32, 3, 4), count)}, {axis}));
  }
  m.result(m.apply(op::gather, {x, m.places(type_of(i32), 4)}, {0}));
  m.result(m.apply(op::gather, {x, m.places(type_of(i32, 0), 4)}, {0}));
  m.result(m.apply(op::gather, {m.input(type_of(t, 300)), m.places(type_of(i32, 257), 300)}, {0}));
  return m.finish_moving();
}

sample updates(const std::string& name, dtype t) {
  sample_maker m(name);
  const auto update = [&](const std::vector<int64>& whole, const std::vector<int64>& part) {
    const auto rank = static_cast<int64>(whole.size());
    m.result(m.apply(op::dynamic_update_slice, {m.input(shaped(t, whole)), m.input(shaped(t, part)), m.places(type_of(i32, rank), 4)}));
  };
  update({5, 6}, {2, 3});
  update({5, 6}, {5, 6});
  update({5, 6}, {0, 3});
  update({3, 4, 7}, {1, 4, 7});
  update({4099}, {257});
  update({2, 3, 5, 7}, {1, 2, 3, 5});
  return m.finish_moving();
}

/// Two states take one value, of more elements than a workgroup has: their updates are one dispatch.
sample shared_updates(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 x = m.input(type_of(t, 3, 129));
  for (int64 rows : {3, 5}) {
    const uint32 s = m.state(type_of(t, rows, 129));
    m.update(s, m.apply(op::dynamic_update_slice, {s, x, m.places(type_of(i32, 2), 3)}));
  }
  return m.finish_moving();
}

/// In place, at places that follow each other and overlap, over three runs.
sample state_updates(const std::string& name, dtype t) {
  sample_maker m(name);
  const uint32 s = m.state(type_of(t, 9, 7)), kept = m.state(type_of(t, 5, 3));
  const uint32 once = m.apply(op::dynamic_update_slice, {s, m.input(type_of(t, 2, 3)), m.places(type_of(i32, 2), 7)});
  const uint32 twice = m.apply(op::dynamic_update_slice, {once, m.input(type_of(t, 1, 7)), m.places(type_of(i32, 2), 9)});
  m.update(s, twice);
  m.result(m.apply(op::gather, {twice, m.places(type_of(i32, 5), 9)}, {0}));
  m.result(m.apply(op::slice, {kept}, {1, 0, 3, 2, 1, 1}));
  return m.finish_moving(3);
}

}  // namespace

samples movement_samples() {
  samples all;
  const auto list = [&](const std::string& what, auto make) {
    for (dtype t : unpacked_types) {
      const std::string name = what + " of " + std::string(poot::name(t));
      all.push_back({name, [=] { return make(name, t); }});
    }
  };
  list("transpose", transposes);
  list("slice", slices);
  list("concat", concatenations);
  list("broadcast", broadcasts);
  list("reshape", reshapes);
  list("gather", gathers);
  list("dynamic_update_slice", updates);
  list("dynamic_update_slice of a state", state_updates);
  list("dynamic_update_slice of two states", shared_updates);
  return all;
}

}  // namespace poot_tests
