#include "chat.hpp"

namespace poot::tool {

namespace {

/// In the order in which they are looked for: markers of a later one may stand in templates of an earlier.
std::vector<chat_format> formats() {
  return {{"llama-3", "<|start_header_id|>",
           {"<|start_header_id|>", "user", "<|end_header_id|>", "\n\n"},
           {"<|eot_id|>", "<|start_header_id|>", "assistant", "<|end_header_id|>", "\n\n"}, "<|eot_id|>", true},
          {"chatml", "<|im_start|>", {"<|im_start|>", "user\n"}, {"<|im_end|>", "\n", "<|im_start|>", "assistant\n"}, "<|im_end|>", false},
          {"gemma", "<start_of_turn>", {"<start_of_turn>", "user\n"}, {"<end_of_turn>", "\n", "<start_of_turn>", "model\n"}, "<end_of_turn>", true},
          {"phi3", "<|end|>", {"<|user|>", "\n"}, {"<|end|>", "\n", "<|assistant|>", "\n"}, "<|end|>", false},
          {"llama-2", "<<SYS>>", {"[INST] "}, {" [/INST]"}, "", true},
          {"mistral", " [/INST]", {"[INST] "}, {" [/INST]"}, "", false},
          {"mistral", "[/INST]", {"[INST]", " "}, {"[/INST]"}, "", false}};
}

bool is_special(std::string_view part) { return part[0] == '<' && part.back() == '>'; }

std::string_view without_spaces_around(std::string_view s) {
  const std::string_view blanks = " \t\r\n";
  const size_t first = s.find_first_not_of(blanks);
  return first == s.npos ? "" : s.substr(first, s.find_last_not_of(blanks) - first + 1);
}

}  // namespace

chat_format chat_format_of(const io::gguf& file) {
  const auto found = file.get<std::string_view>("tokenizer.chat_template");
  text known;
  std::string_view before;
  for (const chat_format& f : formats()) {
    if (found.find(f.marker) != found.npos) return f;
    if (f.name != before) known << (known.empty() ? "" : ", ") << f.name;
    before = f.name;
  }
  fail(text{} << file.file() << ": tokenizer.chat_template has none of the forms that poot knows: " << known);
}

std::vector<int32> chat_prompt(const chat_format& format, const io::gguf& file, const io::tokenizer& tokens, std::string_view message) {
  std::vector<int32> ids = tokens.encode("");
  std::string waiting;  // neighbouring parts of text are one text
  const auto flush = [&] {
    for (int32 id : tokens.encode(waiting, false)) ids.push_back(id);
    waiting.clear();
  };
  const auto add = [&](std::string_view part) {
    const int32 id = tokens.find_special(part);
    if (id < 0 && is_special(part))
      fail(text{} << file.file() << ": tokenizer.chat_template is of the form " << format.name << ", and " << part
                  << " is no control token of the vocabulary");
    if (id < 0) {
      waiting += part;
      return;
    }
    flush();
    ids.push_back(id);
  };
  for (std::string_view part : format.before) add(part);
  waiting += format.trimmed ? without_spaces_around(message) : message;
  for (std::string_view part : format.after) add(part);
  flush();
  return ids;
}

}  // namespace poot::tool
