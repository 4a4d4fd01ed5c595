#include "../../../examples/tool/text_queue.hpp"

#include <doctest/doctest.h>

#include <thread>
#include <vector>

using poot::tool::text_queue;

TEST_CASE("as many wait as may, and no more") {
  text_queue none(0), two(2);
  auto first = none.join();
  CHECK(first);
  CHECK(!none.join());
  first.reset();
  CHECK(none.join());
  const auto a = two.join(), b = two.join();
  auto c = two.join();
  CHECK((a && b && c));
  CHECK(two.waiting() == 2);
  CHECK(!two.join());
  c.reset();  // who waits may leave
  CHECK(two.waiting() == 1);
  CHECK(two.join());
}

TEST_CASE("texts have the model one after the other, in the order in which they were asked for") {
  text_queue queue(16);
  std::vector<std::shared_ptr<const text_queue::place>> places;
  for (int i = 0; i < 8; ++i) places.push_back(queue.join());
  std::vector<int> order;  // written by who has the model
  std::vector<std::thread> texts;
  for (int i = 7; i >= 0; --i)
    texts.emplace_back([&, i, place = std::move(places[static_cast<size_t>(i)])]() mutable {
      place->wait();
      order.push_back(i);
      place.reset();
    });
  for (std::thread& t : texts) t.join();
  CHECK(order == std::vector<int>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(queue.waiting() == 0);
}
