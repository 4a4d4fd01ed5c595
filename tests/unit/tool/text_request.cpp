#include "../../../examples/tool/text_request.cpp"

#include <support/file_bytes.hpp>

#include <doctest/doctest.h>

using poot_tests::message_of;
using poot::tool::read_text_request;

namespace {

std::string refusal(const std::string& body) {
  return message_of([&] { read_text_request(body, 64); });
}

}  // namespace

TEST_CASE("a body says what is asked") {
  const auto r = read_text_request(R"({"prompt": "a\u0000b", "tokens": 7, "chat": true, "system": "s", "stream": true})", 64);
  CHECK(r.prompt == std::string("a\0b", 3));
  CHECK(r.system == "s");
  CHECK(r.tokens == 7);
  CHECK((r.counted && r.chat && r.stream));
  const auto least = read_text_request(R"({"prompt": ""})", 64);
  CHECK((least.tokens == 64 && !least.counted && !least.chat && !least.stream));
}

TEST_CASE("a refusal names the key and the rule") {
  CHECK(refusal(R"({"prompt": "a", "tokens": 1, "prompt": "b"})") == "key \"prompt\": is given twice");
  CHECK(refusal(R"({"prompt": "a", "chat": false, "chat": false})") == "key \"chat\": is given twice");
  CHECK(refusal(R"({"prompt": "a", "x\u0000y": 1})") == "key \"x\\u0000y\": is none of prompt, system, tokens, chat and stream");
  CHECK(refusal("{\"" + std::string(1000, 'k') + "\": 1}") ==
        "key \"" + std::string(64, 'k') + "\"…: is none of prompt, system, tokens, chat and stream");
  for (const char* value : {"0", "-1", "65", "1.0", "1e999", "-1e999", "18446744073709551617", "\"1\"", "null", "true", "[1]", "{}"})
    CHECK(refusal(std::string(R"({"prompt": "a", "tokens": )") + value + "}") == "key \"tokens\": must be a whole number from 1 to 64");
  for (const char* value : {"1", "null", "\"true\"", "[]", "{\"chat\": true}", "1e999"})
    CHECK(refusal(std::string(R"({"prompt": "a", "chat": )") + value + "}") == "key \"chat\": must be true or false");
  for (const char* value : {"1", "null", "[\"a\"]", "{\"prompt\": \"a\"}", "false"})
    CHECK(refusal(std::string(R"({"prompt": )") + value + "}") == "key \"prompt\": must be a string");
  CHECK(refusal(R"({"prompt": "a", "system": "s"})") == "key \"system\": stands before the messages of a chat, and \"chat\" is not true");
  CHECK(refusal("{}") == "key \"prompt\": is missing");
}

TEST_CASE("a body that is no object says so") {
  for (const char* body : {"[1]", "\"a\"", "null", "1e999", "[[[[", "7"}) CHECK(refusal(body) == "the body: must be an object");
  CHECK(refusal("") == "the body: is no JSON, or not in UTF-8, at byte 1");
  CHECK(refusal("{\"prompt\": \"\xff\"}") == "the body: is no JSON, or not in UTF-8, at byte 13");
  CHECK(refusal(R"({"prompt": "a"} {})") == "the body: is no JSON, or not in UTF-8, at byte 17");
}
