#include "batch.hpp"

#include <poot/io/mapping.hpp>

#include <chrono>
#include <cstdio>

namespace poot::tool {

namespace {

/// One place of the batch, and the prompt that it continues.
struct place {
  size_t prompt = 0;
  bool is_taken = false;
  int64 position = 0;  ///< of the token that is read next
  int32 token = 0, before = 0;
  uint32 drawn = 0;
  std::string text;
  io::character_stream characters;
};

/// Writes texts in the order of their prompts, each when all before it are there.
class ordered_output {
 public:
  explicit ordered_output(size_t count) : texts_(count), is_done_(count) {}
  void finish(size_t prompt, std::string text) {
    texts_[prompt] = std::move(text);
    is_done_[prompt] = true;
    for (; next_ < texts_.size() && is_done_[next_]; ++next_) {
      texts_[next_] += '\n';
      std::fwrite(texts_[next_].data(), 1, texts_[next_].size(), stdout);
      std::fflush(stdout);
      texts_[next_].clear();
    }
  }

 private:
  std::vector<std::string> texts_;
  std::vector<bool> is_done_;
  size_t next_ = 0;
};

}  // namespace

std::vector<int32> prompt_ids(const io::tokenizer& tokens, std::string_view chars) {
  std::vector<int32> ids = tokens.encode(chars);
  if (ids.empty() && tokens.bos() >= 0) ids.push_back(tokens.bos());
  return ids;
}

std::vector<batch_prompt> read_prompts(const std::string& path, const io::tokenizer& tokens) {
  const io::mapping file(path);
  std::string_view rest(reinterpret_cast<const char*>(file.bytes().data()), file.bytes().size());
  std::vector<batch_prompt> prompts;
  while (!rest.empty()) {
    const size_t end = rest.find('\n');
    batch_prompt p;
    p.written = rest.substr(0, end);
    p.from = path + ": line " + std::to_string(prompts.size() + 1);
    try {
      p.tokens = prompt_ids(tokens, p.written);
    } catch (const error& e) {
      fail(text{} << p.from << ": " << e.what());
    }
    prompts.push_back(std::move(p));
    rest = end == rest.npos ? std::string_view() : rest.substr(end + 1);
  }
  if (prompts.empty()) fail(text{} << path << ": there is no prompt in it");
  return prompts;
}

void run_batch(language_model& model, const std::vector<batch_prompt>& prompts, int64 sequences, int64 most_tokens, text_end ends) {
  std::vector<place> places(static_cast<size_t>(sequences));
  ordered_output out(prompts.size());
  size_t begun = 0, ended = 0;
  int64 steps = 0, made = 0;
  const auto start = std::chrono::steady_clock::now();
  std::vector<int32> tokens(places.size()), positions(places.size());
  std::vector<uint32> drawn(places.size());
  while (ended < prompts.size()) {
    for (size_t s = 0; s < places.size(); ++s) {
      place& p = places[s];
      if (!p.is_taken && begun < prompts.size()) {
        p = place{};
        p.prompt = begun++;
        p.is_taken = true;
        p.token = prompts[p.prompt].tokens[0];
        p.text = p.characters.put(prompts[p.prompt].written);
      }
      tokens[s] = p.is_taken ? p.token : 0;  // a place that is left reads any token over and over
      positions[s] = p.is_taken ? static_cast<int32>(p.position) : 0;
      drawn[s] = p.drawn;
    }
    const view<int32> chosen = model.read_each({tokens.data(), tokens.size()}, {positions.data(), positions.size()}, {drawn.data(), drawn.size()});
    ++steps;
    for (size_t s = 0; s < places.size(); ++s) {
      place& p = places[s];
      if (!p.is_taken) continue;
      const std::vector<int32>& given = prompts[p.prompt].tokens;
      p.before = p.token;
      if (++p.position < static_cast<int64>(given.size())) {
        p.token = given[static_cast<size_t>(p.position)];
        continue;
      }
      p.token = chosen[s];
      ++p.drawn;
      ++made;
      const bool over = ends(p.token);
      if (!over) {
        std::string piece;
        model.tokens().append(piece, p.token, p.before);
        p.text += p.characters.put(piece);
      }
      if (!over && p.drawn < most_tokens && p.position < model.config().context) continue;
      out.finish(p.prompt, p.text + p.characters.finish());
      p.is_taken = false;
      std::fprintf(stderr, "%zu of %zu prompts, %lld tokens\n", ++ended, prompts.size(), static_cast<long long>(made));
    }
  }
  const double seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  std::fprintf(stderr, "%zu prompts in %lld steps of %lld, %.1f tokens/s\n", prompts.size(), static_cast<long long>(steps),
               static_cast<long long>(sequences), static_cast<double>(made) / seconds);
}

}  // namespace poot::tool
