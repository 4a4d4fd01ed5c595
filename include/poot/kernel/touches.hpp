#pragma once
/// Who touched a word while nothing ordered invocations.

#include <poot/core/integers.hpp>

namespace poot::kernel::detail {

/// Who touched a word since `interval` began: an invocation by its number + 1, nobody, or several.
struct touches {
  static constexpr uint32 nobody = 0, several = 0xffffffffu;
  uint32 interval = 0, reader = nobody, writer = nobody, atomic = nobody;
};

enum class touch : uint8 { read, write, atomic };

/// Notes a touch; false where it races with an earlier one.
constexpr bool note(touches& t, uint32 interval, uint32 invocation, touch how) {
  if (t.interval != interval) t = {interval};
  const uint32 who = invocation + 1;
  const auto by_another = [who](uint32 by) { return by != touches::nobody && by != who; };
  if (by_another(t.writer)) return false;
  if (how != touch::read && by_another(t.reader)) return false;
  if (how != touch::atomic && by_another(t.atomic)) return false;
  uint32& by = how == touch::read ? t.reader : how == touch::write ? t.writer : t.atomic;
  by = by_another(by) ? touches::several : who;
  return true;
}

}  // namespace poot::kernel::detail
