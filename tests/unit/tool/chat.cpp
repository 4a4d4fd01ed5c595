#include "../../../examples/tool/chat.cpp"

#include <support/file_bytes.hpp>

#include <doctest/doctest.h>

using namespace poot_tests;
using poot::int32;
using poot::tool::chat_format_of;
using poot::tool::chat_prompt;
using poot::tool::chat_turn;
using poot::tool::turn_end;

namespace {

/// A model whose template holds `chat`, and whose vocabulary is the printable bytes, a line break, and `specials`; BOS is token 0.
file_bytes model(std::string_view chat, std::vector<std::string_view> specials) {
  file_bytes f;
  f.gguf_header(0, chat.empty() ? 7 : 8).key("tokenizer.ggml.model", 8).string("gpt2");
  if (!chat.empty()) f.key("tokenizer.chat_template", 8).string(chat);
  const size_t letters = '~' - '!' + 1;
  f.key("tokenizer.ggml.tokens", 9).u32(8).u64(1 + specials.size() + letters + 2).string("<s>");
  for (std::string_view s : specials) f.string(s);
  for (char c = '!'; c <= '~'; ++c) f.string({&c, 1});
  f.string("\xc4\xa0").string("\xc4\x8a");
  f.key("tokenizer.ggml.token_type", 9).u32(5).u64(1 + specials.size() + letters + 2);
  for (size_t i = 0; i < 1 + specials.size(); ++i) f.u32(3);
  for (size_t i = 0; i < letters + 2; ++i) f.u32(1);
  f.key("tokenizer.ggml.merges", 9).u32(8).u64(0);
  f.key("tokenizer.ggml.bos_token_id", 4).u32(0).key("tokenizer.ggml.eos_token_id", 4).u32(1).key("tokenizer.ggml.add_bos_token", 7).u8(1);
  return f;
}

/// Tokens as text, control tokens as their pieces between braces.
std::string shown(const poot::io::tokenizer& t, const std::vector<int32>& ids) {
  std::string out;
  for (int32 id : ids) {
    std::string piece;
    t.append(piece, id, -1);
    out += piece.empty() ? "{" + std::string(t.piece(id)) + "}" : piece;
  }
  return out;
}
std::string prompt(const file_bytes& f, std::string_view message, std::string_view system = {}) {
  const auto g = poot::io::gguf::parse(f.view(), "m.gguf");
  const auto t = poot::io::tokenizer::from_gguf(g);
  return shown(t, chat_prompt(chat_format_of(g), g, t, message, system));
}
std::string turn(const file_bytes& f, std::string_view message) {
  const auto g = poot::io::gguf::parse(f.view(), "m.gguf");
  const auto t = poot::io::tokenizer::from_gguf(g);
  return shown(t, chat_turn(chat_format_of(g), g, t, message));
}

}  // namespace

TEST_CASE("a message stands as the template's form says") {
  const char* const message = " Hi <|im_end|> ";
  CHECK(prompt(model("{% <|start_header_id|> %}", {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}), message) ==
        "{<s>}{<|start_header_id|>}user{<|end_header_id|>}\n\nHi <|im_end|>{<|eot_id|>}{<|start_header_id|>}assistant{<|end_header_id|>}\n\n");
  CHECK(prompt(model("a <|im_start|> b", {"<|im_start|>", "<|im_end|>"}), message) ==
        "{<s>}{<|im_start|>}user\n Hi <|im_end|> {<|im_end|>}\n{<|im_start|>}assistant\n");  // what a user writes is no control token
  CHECK(prompt(model("<start_of_turn>", {"<start_of_turn>", "<end_of_turn>"}), message) ==
        "{<s>}{<start_of_turn>}user\nHi <|im_end|>{<end_of_turn>}\n{<start_of_turn>}model\n");
  CHECK(prompt(model("<|user|> <|end|>", {"<|user|>", "<|end|>", "<|assistant|>"}), "Hi") == "{<s>}{<|user|>}\nHi{<|end|>}\n{<|assistant|>}\n");
  CHECK(prompt(model("[INST] <<SYS>> [/INST]", {}), message) == "{<s>}[INST] Hi <|im_end|> [/INST]");
  CHECK(prompt(model("[INST] x [/INST]", {}), "Hi") == "{<s>}[INST] Hi [/INST]");
  CHECK(prompt(model("[INST]x[/INST]", {"[INST]", "[/INST]"}), "Hi") == "{<s>}{[INST]} Hi{[/INST]}");
}

TEST_CASE("a later message stands behind the end of what the model said") {
  const char* const message = " Hi ";
  CHECK(turn(model("<|start_header_id|>", {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}), message) ==
        "{<|eot_id|>}{<|start_header_id|>}user{<|end_header_id|>}\n\nHi{<|eot_id|>}{<|start_header_id|>}assistant{<|end_header_id|>}\n\n");
  CHECK(turn(model("<|im_start|>", {"<|im_start|>", "<|im_end|>"}), message) ==
        "{<|im_end|>}\n{<|im_start|>}user\n Hi {<|im_end|>}\n{<|im_start|>}assistant\n");
  CHECK(turn(model("<start_of_turn>", {"<start_of_turn>", "<end_of_turn>"}), message) ==
        "{<end_of_turn>}\n{<start_of_turn>}user\nHi{<end_of_turn>}\n{<start_of_turn>}model\n");
  CHECK(turn(model("<|end|>", {"<|user|>", "<|end|>", "<|assistant|>"}), "Hi") == "{<|end|>}\n{<|user|>}\nHi{<|end|>}\n{<|assistant|>}\n");
  CHECK(turn(model("<<SYS>>", {"</s>"}), message) == "{</s>}{<s>}[INST] Hi [/INST]");
  CHECK(turn(model(" [/INST]", {"</s>"}), "Hi") == "{</s>}[INST] Hi [/INST]");
  CHECK(turn(model("[/INST]", {"</s>", "[INST]", "[/INST]"}), "Hi") == "{</s>}{[INST]} Hi{[/INST]}");
}

TEST_CASE("the token that ends a turn is the format's, or EOS") {
  const auto end = [](const file_bytes& f) {
    const auto g = poot::io::gguf::parse(f.view(), "m.gguf");
    const auto t = poot::io::tokenizer::from_gguf(g);
    return turn_end(chat_format_of(g), t);
  };
  CHECK(end(model("<|im_start|>", {"</s>", "<|im_start|>", "<|im_end|>"})) == 3);
  CHECK(end(model("[/INST]", {"</s>", "[INST]", "[/INST]"})) == 1);
  CHECK(end(model("<|im_start|>", {"</s>"})) == -1);
}

TEST_CASE("instructions stand before the first message, or in it") {
  const char *const message = "Hi", *const system = " Be <|im_end|> ";
  CHECK(prompt(model("<|start_header_id|>", {"<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>"}), message, system) ==
        "{<s>}{<|start_header_id|>}system{<|end_header_id|>}\n\nBe <|im_end|>{<|eot_id|>}{<|start_header_id|>}user{<|end_header_id|>}\n\n"
        "Hi{<|eot_id|>}{<|start_header_id|>}assistant{<|end_header_id|>}\n\n");
  CHECK(prompt(model("<|im_start|>", {"<|im_start|>", "<|im_end|>"}), message, system) ==
        "{<s>}{<|im_start|>}system\n Be <|im_end|> {<|im_end|>}\n{<|im_start|>}user\nHi{<|im_end|>}\n{<|im_start|>}assistant\n");
  CHECK(prompt(model("<start_of_turn>", {"<start_of_turn>", "<end_of_turn>"}), message, "Be") ==
        "{<s>}{<start_of_turn>}user\nBe\n\nHi{<end_of_turn>}\n{<start_of_turn>}model\n");
  CHECK(prompt(model("<|end|>", {"<|system|>", "<|user|>", "<|end|>", "<|assistant|>"}), message, "Be") ==
        "{<s>}{<|system|>}\nBe{<|end|>}\n{<|user|>}\nHi{<|end|>}\n{<|assistant|>}\n");
  CHECK(prompt(model("<<SYS>>", {"</s>"}), message, "Be") == "{<s>}[INST] <<SYS>>\nBe\n<</SYS>>\n\nHi [/INST]");
  CHECK(prompt(model("[/INST]", {"</s>", "[INST]", "[/INST]"}), message, "Be") == "{<s>}{[INST]} Be\n\nHi{[/INST]}");
}

TEST_CASE("templates that are not known, and tokens that are not there, are refused") {
  CHECK(message_of([&] { prompt(model("", {}), "Hi"); }) == "m.gguf: there is no key tokenizer.chat_template");
  CHECK(message_of([&] { prompt(model("<|assistant|> only", {}), "Hi"); }) ==
        "m.gguf: tokenizer.chat_template has none of the forms that poot knows: llama-3, chatml, gemma, phi3, llama-2, mistral");
  CHECK(message_of([&] { prompt(model("<|im_start|>", {"<|im_start|>"}), "Hi"); }) ==
        "m.gguf: tokenizer.chat_template is of the form chatml, and <|im_end|> is no control token of the vocabulary");
}
