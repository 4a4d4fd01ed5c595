# Text from models: a part of ./tests/tool/run.
# shellcheck shell=bash disable=SC2154

# ---- generate
works 'generate' generate "$model" -n 20
check 'generate begins as recorded' test "$(cat out)" = "$(head -c $(($(wc -c <out) - 1)) "$recorded")"
cp out fused.txt
works 'generate with a temperature' generate "$model" -n 5 --temperature 0.8 --seed 3
refuses 'a temperature that is no number' '--temperature' generate "$model" -n 5 --temperature nan
refuses 'more threads than a machine has' '--threads' generate "$model" -n 5 --threads 100000
works 'generate --unfused' generate "$model" -n 20 --unfused --threads 1
check 'fused and unfused texts are the same' cmp out fused.txt
works 'generate --check' generate "$model" -n 3 --check
refuses 'a model that is not there' 'missing.gguf' generate missing.gguf
refuses 'a model that is none' 'x.npy' generate x.npy
refuses 'half a model' 'cut.gguf' generate cut.gguf
LC_ALL=C sed 's/\(general\.architecture.\{12\}\)llama/\1mamba/' "$model" >mamba.gguf
refuses 'a family that is not known' 'mamba.gguf: key general.architecture is "mamba", and poot builds llama, qwen2, ' generate mamba.gguf
LC_ALL=C sed 's/blk\.0\.attn_k\.weight/blk.0.attn_u.weight/' "$model" >renamed.gguf
refuses 'a tensor that is missing' 'renamed.gguf: there is no tensor blk.0.attn_k.weight' generate renamed.gguf
refuses 'a context that the model has not' 'less than the context of 100000 that is asked for' generate "$model" --context 100000
refuses 'no tokens' '--tokens' generate "$model" -n 0

# ---- generate: sampling, batches, chats, prompts that cannot be
drawn=(--temperature 0.9 --top-k 40 --top-p 0.95 --min-p 0.02)
works 'generate with another seed' generate "$model" -n 40 "${drawn[@]}" --seed 8
cp out other.txt
drawn+=(--seed 7)
works 'generate with every sampler' generate "$model" -n 40 "${drawn[@]}"
cp out drawn.txt
works 'the same unfused' generate "$model" -n 40 "${drawn[@]}" --unfused --threads 1
check 'the same tokens' cmp out drawn.txt
name='another seed draws other tokens'
if cmp -s other.txt drawn.txt; then fail 'they are the same'; else pass; fi
works 'the likeliest of one' generate "$model" -n 20 --temperature 2 --top-k 1
check 'is greedy' cmp out fused.txt
works 'generate --check with samplers' generate "$model" -n 3 "${drawn[@]}" --check
refuses 'samplers where nothing is drawn' '--top-k' generate "$model" --top-k 5
refuses 'a top-p of 0' '--top-p' generate "$model" --temperature 1 --top-p 0
refuses 'a top-p that is no number' '--top-p' generate "$model" --temperature 1 --top-p nan
refuses 'a min-p above 1' '--min-p' generate "$model" --temperature 1 --min-p 2
for i in $(seq 0 19); do printf 'Once upon a time there %s\n' "$(printf 'was a little cat %.0s' $(seq 0 $((i % 7))))"; done >prompts.txt
printf '\nThe' >>prompts.txt  # an empty one, and one without a line break
for how in '' '--temperature 0.8 --seed 5'; do
  works "generate --batch $how" generate "$model" --batch prompts.txt -n 12 $how
  cp out together.txt
  while IFS= read -r line || [ -n "$line" ]; do "$poot" generate "$model" -n 12 --prompt "$line" $how 2>err; done <prompts.txt >alone.txt
  check "each as it is alone $how" cmp together.txt alone.txt
done
works 'a batch says how far it is' generate "$model" --batch prompts.txt -n 2
check 'how far' grep -q '^22 of 22 prompts, ' err
printf 'The cat' >one.txt
works 'a batch of one' generate "$model" --batch one.txt -n 5
refuses 'a batch and a prompt' '--prompt' generate "$model" --batch prompts.txt --prompt x
refuses 'a batch that is not there' 'missing.txt' generate "$model" --batch missing.txt
: >none.txt
refuses 'a batch of none' 'none.txt: there is no prompt in it' generate "$model" --batch none.txt
printf 'a\nb\xff\n' >wrong.txt
refuses 'a batch of what is no UTF-8' 'wrong.txt: line 2: a text to encode is not UTF-8 at byte 1' generate "$model" --batch wrong.txt
long=$(printf 'xyz %.0s' $(seq 400))
printf 'a\n%s\n' "$long" >long.txt
refuses 'a batch of more than the caches hold' 'long.txt: line 2: ' generate "$model" --batch long.txt
refuses 'a prompt that is no UTF-8' '--prompt: a text to encode is not UTF-8 at byte 2' generate "$model" --prompt "$(printf 'ab\xc3')"
refuses 'a prompt longer than the caches' 'do not fit the context of 512' generate "$model" --prompt "$long"
refuses 'a prompt longer than a context that was given' 'do not fit the context of 4' generate "$model" --prompt 'Once upon a time there was' --context 4
check 'nothing was loaded for it' test "$(grep -c loading err)" -eq 0
name='a chat'
for python in python3 /usr/bin/python3; do "$python" -c 'import numpy' 2>/dev/null && break; python=; done
if [ -n "$python" ]; then
  "$python" "$here/chat_model.py" '<|im_start|>' chat.gguf && "$python" "$here/chat_model.py" '{{ messages }}' other.gguf
  works 'generate of byte pairs' generate chat.gguf --prompt 'ab cd' -n 8
  check 'the prompt and more' test "$(head -c 5 out)" = 'ab cd'
  works 'a chat' generate chat.gguf --chat --prompt 'ab cd' -n 8
  name='a chat writes the answer only'
  if grep -q 'ab cd' out || ! grep -q '^[0-9]* prompt tokens' err; then fail 'it does not'; else pass; fi
  printf 'ab\n\ncd\\\nef\nab' >talk.txt  # two messages, one of two lines, and one without a line break
  name='a conversation has a past'
  run generate chat.gguf --chat -n 4 <talk.txt
  status=$?
  # read so far: 20 tokens and 3 of the answer, the fourth and 26 of the second message, and 3 of its answer
  if [ $status -eq 1 ] && grep -q '^poot: standard input: line 5: 23 tokens behind 53 do not fit the context of 64$' err; then pass; else fail "status $status"; fi
  head -n 4 talk.txt >two.txt
  name='a conversation answers each message'
  if run generate chat.gguf --chat -n 4 <two.txt && [ "$(wc -l <out)" -eq 2 ]; then pass; else fail "it does not"; fi
  cp out answers.txt
  works 'the first message alone' generate chat.gguf --chat -n 4 --prompt ab
  check 'has the same answer' cmp out <(head -n 1 answers.txt)
  name='a conversation, fused and unfused'
  if run generate chat.gguf --chat -n 4 --check <two.txt && cmp -s out answers.txt; then pass; else fail "it differs"; fi
  works 'a chat with instructions' generate chat.gguf --chat -n 4 --prompt ab --system-prompt be
  name='instructions are read'
  if grep -q '^32 prompt tokens' err; then pass; else fail 'they are not'; fi  # 12 more than without
  name='a line that is no UTF-8'
  printf 'ab\nc\xff\n' | run generate chat.gguf --chat -n 2
  if grep -q '^poot: standard input: line 2: a text to encode is not UTF-8 at byte 1' err; then pass; else fail 'is not named'; fi
  refuses 'instructions that are no UTF-8' '--system-prompt: a text to encode is not UTF-8 at byte 1' generate chat.gguf --chat --system-prompt "$(printf 'a\xc3')"
  refuses 'instructions without a chat' '--system-prompt requires --chat' generate chat.gguf --prompt x --system-prompt y
  printf 'ab\n\n(cd)\n' >pairs.txt
  works 'a batch of byte pairs' generate chat.gguf --batch pairs.txt -n 8
  cp out together.txt
  while IFS= read -r line; do "$poot" generate chat.gguf -n 8 --prompt "$line" 2>err; done <pairs.txt >alone.txt
  check 'each as it is alone' cmp together.txt alone.txt
  refuses 'a chat of another form' 'other.gguf: tokenizer.chat_template has none of the forms' generate other.gguf --chat --prompt x
  refuses 'a chat that is no UTF-8' '--prompt: a text to encode is not UTF-8 at byte 1' generate chat.gguf --chat --prompt "$(printf 'a\xc3')"
  refuses 'a byte without a piece' '--prompt: chat.gguf: the vocabulary has no piece for byte 126' generate chat.gguf --prompt 'a~'
else
  skip 'no python3 has numpy'
fi
refuses 'a chat with a model of none' 'there is no key tokenizer.chat_template' generate "$model" --chat --prompt hello
