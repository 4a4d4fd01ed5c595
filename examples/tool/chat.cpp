#include "chat.hpp"

namespace poot::tool {

namespace {

using parts = std::vector<std::string_view>;

/// In the order in which they are looked for: markers of a later one may stand in templates of an earlier.
std::vector<chat_format> formats() {
  const auto llama_3 = [](std::string_view role) { return parts{"<|start_header_id|>", role, "<|end_header_id|>", "\n\n"}; };
  const auto mistral = [](std::string_view marker, parts before, parts after) {
    return chat_format{"mistral", marker, {}, {"\n\n"}, true, std::move(before), std::move(after), "", "", false, false};
  };
  parts llama_3_after = llama_3("assistant");
  llama_3_after.insert(llama_3_after.begin(), "<|eot_id|>");
  return {{"llama-3", "<|start_header_id|>", llama_3("system"), {"<|eot_id|>"}, false, llama_3("user"), llama_3_after, "<|eot_id|>", "", false, true},
          {"chatml", "<|im_start|>", {"<|im_start|>", "system\n"}, {"<|im_end|>", "\n"}, false,
           {"<|im_start|>", "user\n"}, {"<|im_end|>", "\n", "<|im_start|>", "assistant\n"}, "<|im_end|>", "\n", false, false},
          {"gemma", "<start_of_turn>", {}, {"\n\n"}, true,
           {"<start_of_turn>", "user\n"}, {"<end_of_turn>", "\n", "<start_of_turn>", "model\n"}, "<end_of_turn>", "\n", false, true},
          {"phi3", "<|end|>", {"<|system|>", "\n"}, {"<|end|>", "\n"}, false,
           {"<|user|>", "\n"}, {"<|end|>", "\n", "<|assistant|>", "\n"}, "<|end|>", "\n", false, false},
          {"llama-2", "<<SYS>>", {"<<SYS>>\n"}, {"\n<</SYS>>\n\n"}, true, {"[INST] "}, {" [/INST]"}, "", "", true, true},
          mistral(" [/INST]", {"[INST] "}, {" [/INST]"}),
          mistral("[/INST]", {"[INST]", " "}, {"[/INST]"})};
}

bool is_special(std::string_view part) { return part[0] == '<' && part.back() == '>'; }

std::string_view without_spaces_around(std::string_view s) {
  const std::string_view blanks = " \t\r\n";
  const size_t first = s.find_first_not_of(blanks);
  return first == s.npos ? "" : s.substr(first, s.find_last_not_of(blanks) - first + 1);
}

/// Tokens that grow at their end; neighbouring texts are one text.
class token_writer {
 public:
  token_writer(const chat_format& format, const io::gguf& file, const io::tokenizer& tokens) : format_(format), file_(file), tokens_(tokens) {}

  void token(int32 id) {
    flush();
    if (id >= 0) ids_.push_back(id);
  }
  void chars(std::string_view s) { waiting_ += s; }
  void all(const parts& of) {
    for (std::string_view part : of) {
      const int32 id = tokens_.find_special(part);
      if (id < 0 && is_special(part))
        fail(text{} << file_.file() << ": tokenizer.chat_template is of the form " << format_.name << ", and " << part
                    << " is no control token of the vocabulary");
      if (id < 0) chars(part);
      else token(id);
    }
  }
  void message(std::string_view system, std::string_view said) {
    if (!system.empty() && !format_.system_in_message) put(format_.before_system, said_by_user(system), format_.after_system);
    all(format_.before);
    if (!system.empty() && format_.system_in_message) put(format_.before_system, system, format_.after_system);
    put({}, said_by_user(said), format_.after);
  }
  std::vector<int32> finish() {
    flush();
    return std::move(ids_);
  }

 private:
  std::string_view said_by_user(std::string_view s) const { return format_.trimmed ? without_spaces_around(s) : s; }
  void put(const parts& before, std::string_view s, const parts& after) {
    all(before);
    chars(s);
    all(after);
  }
  void flush() {
    for (int32 id : tokens_.encode(waiting_, false)) ids_.push_back(id);
    waiting_.clear();
  }

  const chat_format& format_;
  const io::gguf& file_;
  const io::tokenizer& tokens_;
  std::vector<int32> ids_;
  std::string waiting_;
};

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

int32 turn_end(const chat_format& format, const io::tokenizer& tokens) {
  return format.end.empty() ? tokens.eos() : tokens.find_special(format.end);
}

std::vector<int32> chat_prompt(const chat_format& format, const io::gguf& file, const io::tokenizer& tokens, std::string_view message,
                               std::string_view system) {
  token_writer out(format, file, tokens);
  for (int32 id : tokens.encode("")) out.token(id);
  out.message(system, message);
  return out.finish();
}

std::vector<int32> chat_turn(const chat_format& format, const io::gguf& file, const io::tokenizer& tokens, std::string_view message) {
  token_writer out(format, file, tokens);
  out.token(turn_end(format, tokens));
  out.chars(format.behind_end);
  if (format.begins_anew) out.token(tokens.bos());
  out.message({}, message);
  return out.finish();
}

}  // namespace poot::tool
