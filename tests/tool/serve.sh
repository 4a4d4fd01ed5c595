# A model behind HTTP: a part of ./tests/tool/run.
# shellcheck shell=bash disable=SC2154

refuses 'a port that is none' '--port: "70000" is no whole number from 0 to 65535' serve "$model" --port 70000
refuses 'an address that is empty' '--address: must not be empty' serve "$model" --address '' --port 0
refuses 'a model that is not there, to serve' 'missing.gguf' serve missing.gguf --port 0
served() {  # NAME CLIENT MODEL TEXT_FILE [OPTION…]
  local line process status client=$2 of=$3 recorded=$4
  name=$1
  shift 4
  : >serve.err
  "$poot" serve "$of" --port 0 "$@" >serve.out 2>serve.err &
  process=$!
  PYTHONDONTWRITEBYTECODE=1 python3 "$here/$client" serve.err "$process" "$recorded" "$@" >serve.checks 2>serve.trace || echo "FAIL the client ends: $(tail -n 1 serve.trace)" >>serve.checks
  kill "$process" 2>/dev/null
  wait "$process"
  status=$?
  [ $status -eq 0 ] || echo "FAIL ends when told: status $status, $(tail -n 1 serve.err)" >>serve.checks
  while read -r line; do
    if [ "${line%% *}" = ok ]; then pass; else name="$name" fail "${line#FAIL }"; fi
  done <serve.checks
  [ -s serve.checks ] || fail 'nothing was checked'
}
if ! command -v python3 >/dev/null; then name='serve' skip 'there is no python3'
elif "$poot" serve --help | grep -q 'built without'; then name='serve' skip 'the tool was built without cpp-httplib'
else
  served 'serve' serve.py "$model" "$recorded" -n 64
  served 'serve, bounds' serve_bounds.py "$model" "$recorded" --waiting 0 --timeout 60 -n 500
  served 'serve, times' serve_times.py "$model" "$recorded" --timeout 1
  if [ -r chat.gguf ] && "$poot" generate chat.gguf --chat --prompt ab -n 4 >answer.txt 2>err; then
    served 'serve, a chat' serve_chat.py chat.gguf answer.txt
  else name='serve, a chat' skip 'no python3 has numpy'; fi
  lavapipe=/usr/share/vulkan/icd.d/lvp_icd.x86_64.json
  if [ -r "$lavapipe" ] && VK_ICD_FILENAMES=$lavapipe "$poot" devices 2>/dev/null | grep -q '^vulkan 0: '; then
    VK_ICD_FILENAMES=$lavapipe served 'serve on a device' serve.py "$model" "$recorded" -n 64 --device vulkan
  else name='serve on a device' skip 'there is no Vulkan device here'; fi
fi
