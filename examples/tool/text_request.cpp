#include "text_request.hpp"

#include <poot/core/error.hpp>

#include <nlohmann/json.hpp>

#include <set>

namespace poot::tool {

namespace {

using nlohmann::json;

/// A key as a sentence may hold it: what is no printable ASCII escaped, and cut where it is long.
text spelled(const std::string& key) {
  const bool is_long = key.size() > 64;
  text out(json(key.substr(0, 64)).dump(-1, ' ', true, json::error_handler_t::replace));
  if (is_long) out << "…";
  return out;
}

/// Takes the body value by value, as it is parsed, so that a key given twice is seen.
class text_request_reader final : public nlohmann::json_sax<json> {
 public:
  explicit text_request_reader(int64 most) : most_(most) { request_.tokens = request_.tokens < most ? request_.tokens : most; }

  text_request finish() {
    if (!keys_.count("prompt")) fail("key \"prompt\": is missing");
    if (!request_.chat && !request_.system.empty()) fail("key \"system\": stands before the messages of a chat, and \"chat\" is not true");
    return std::move(request_);
  }

  bool start_object(std::size_t) override {
    if (depth_++ > 0) refuse_value();
    return true;
  }
  bool key(std::string& name) override {
    key_ = name;
    if (name != "prompt" && name != "system" && name != "tokens" && name != "chat" && name != "stream")
      fail(text("key ") << spelled(name) << ": is none of prompt, system, tokens, chat and stream");
    if (!keys_.insert(name).second) fail(text("key ") << spelled(name) << ": is given twice");
    return true;
  }
  bool end_object() override { return true; }
  bool string(std::string& value) override {
    if (key_ != "prompt" && key_ != "system") refuse_value();
    (key_ == "prompt" ? request_.prompt : request_.system) = std::move(value);
    return true;
  }
  bool boolean(bool value) override {
    if (key_ != "chat" && key_ != "stream") refuse_value();
    (key_ == "chat" ? request_.chat : request_.stream) = value;
    return true;
  }
  bool number_unsigned(json::number_unsigned_t value) override {
    if (key_ != "tokens" || value < 1 || value > static_cast<json::number_unsigned_t>(most_)) refuse_value();
    request_.tokens = static_cast<int64>(value);
    request_.counted = true;
    return true;
  }
  bool null() override { refuse_value(); }
  bool number_integer(json::number_integer_t) override { refuse_value(); }
  bool number_float(json::number_float_t, const std::string&) override { refuse_value(); }
  bool binary(json::binary_t&) override { refuse_value(); }
  bool start_array(std::size_t) override { refuse_value(); }
  bool end_array() override { return true; }
  bool parse_error(std::size_t position, const std::string&, const json::exception& e) override {
    if (dynamic_cast<const json::out_of_range*>(&e)) refuse_value();  // a number that no double holds
    fail(text("the body: is no JSON, or not in UTF-8, at byte ") << position);
  }

 private:
  [[noreturn]] void refuse_value() const {
    if (depth_ == 0) fail("the body: must be an object");
    const text rule = key_ == "tokens"                     ? text("a whole number from 1 to ") << most_
                      : key_ == "chat" || key_ == "stream" ? text("true or false")
                                                           : text("a string");
    fail(text("key ") << spelled(key_) << ": must be " << rule);
  }

  int64 most_;
  text_request request_;
  std::set<std::string> keys_;
  std::string key_;  ///< whose value comes next
  int depth_ = 0;
};

}  // namespace

text_request read_text_request(const std::string& body, int64 most) {
  text_request_reader reader(most);
  json::sax_parse(body, &reader);
  return reader.finish();
}

}  // namespace poot::tool
