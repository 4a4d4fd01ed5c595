# Words that cannot be taken, and files that must not be written: a part of ./tests/tool/run.
# shellcheck shell=bash disable=SC2154

# ---- numbers and names
refuses 'a pattern that is none' '--only [: is no regular expression: ' bench --only '['
refuses 'a time that is too short' '--seconds: "0" is no number from 0.001 to 86400' bench --seconds 0
refuses 'a time that is no number' '--seconds: "1e400" is no number from 0.001 to 86400' bench --seconds 1e400
refuses 'threads that are no number' '--threads: "x" is no whole number from 0 to 1024' run square.poot --threads x
refuses 'threads written in octal' '--threads: "010" is no whole number' run square.poot --threads 010
refuses 'a seed below 0' '--seed: "-1" is no whole number from 0 to 4294967295' generate "$model" --seed -1
refuses 'a seed of more than 32 bits' '--seed: "4294967296" is no whole number' generate "$model" --seed 4294967296
refuses 'a temperature that is infinite' '--temperature: "inf" is no number from 0 to 1000000' generate "$model" --temperature inf
refuses 'a model without a name' 'file: "" is no name of a file' plan ''
refuses 'a page without a name' '--html: "" is no name of a file' explain square.poot --html ''
refuses 'a batch without a name' '--batch: "" is no name of a file' generate "$model" --batch ''
refuses 'a model that is not there' 'nofile: cannot open: No such file or directory' generate nofile
refuses 'a device that is none' "--device x: devices are host, vulkan and vulkan:N" generate "$model" --device x
check 'nothing was loaded for it' test "$(grep -c loading err)" -eq 0
refuses 'replay on the host' '--no-replay: ' generate "$model" --no-replay
check 'nothing was loaded for that' test "$(grep -c loading err)" -eq 0
printf 'graph g {\n  %%x : i32[100000000000] = iota {axis=0}\n  %%y : i32[100000000000] = mul %%x, %%x\n  output "y" = %%y\n}\n' >long.poot
refuses 'more memory than there is, by the file' 'long.poot: out of memory: ' run long.poot --out y=y.npy

# ---- programs: the line and what belongs there
sed 's/inputs=\[%x\]/inputs=[]/' square.plan >bad.plan
refuses 'inputs that do not follow' 'launch: dispatch 0: its members make inputs [%x], and [] is written' plan bad.plan
sed '/place %1 /d' square.plan >bad.plan
refuses 'a value without a place' "line $(sed -n '/  launch/=' bad.plan), column 3: place: %1 has no place" plan bad.plan
sed 's/^  origins/  decline %x %1 boundary\n  origins/' square.plan >bad.plan
refuses 'a decline of no edge' "line $(sed -n '/  decline/=' bad.plan), column 3: decline: names two values" plan bad.plan

# ---- files that are written
printf 'kept' >target.npy
ln -sf target.npy link.npy
works 'a result behind a link' run square.poot --in x=x.npy --out y=link.npy
check 'the link stays' test -L link.npy
check 'its target is the result' cmp target.npy fused.npy
ln -sf page_target.html page_link.html
works 'a page behind a link to nothing' explain square.poot --html page_link.html
check 'the page is behind the link' test -L page_link.html -a -s page_target.html
cp x.npy given.npy
cp square.poot model.poot
ln -sf given.npy alias.npy
mkdir -p folder
for second in same.npy ./same.npy "$PWD/folder/../same.npy"; do
  refuses "two results in one file, $second" 'is the file of --out y as well' run square.poot --in x=x.npy --out y=same.npy --out "z=$second"
done
check 'neither was written' test ! -e same.npy
refuses 'a result over an input' '--out y=given.npy: is the file of --in x as well' run square.poot --in x=given.npy --out y=given.npy
refuses 'a result over an input, behind a link' 'is the file of --in x as well' run square.poot --in x=given.npy --out y=alias.npy
refuses 'a result over the model' '--out y=model.poot: is the file of the model' run model.poot --in x=x.npy --out y=model.poot
refuses 'a page over the model' "--html ./model.poot: is the model's own file" explain model.poot --html ./model.poot
check 'the input is whole' cmp given.npy x.npy
check 'the model is whole' cmp model.poot square.poot

# ---- the cache of kernels
kept=$PWD/kept
mkdir -m 700 "$kept"
mkdir "$kept/0123456789abcdef0123456789abcdef.bin"
printf 'x' >"$kept/1123456789abcdef0123456789abcdef.bin"
name='cache --clear names what stays'
POOT_CACHE_DIR=$kept run cache --clear
status=$?
if [ $status -eq 1 ] && grep -q '^poot: --clear: .*/0123456789abcdef0123456789abcdef.bin is no regular file$' err; then pass; else fail "status $status"; fi
check 'and removes the rest' test ! -e "$kept/1123456789abcdef0123456789abcdef.bin"
chmod 777 "$kept"
POOT_CACHE_DIR=$kept works 'devices with a cache that cannot be used' devices
name='a cache folder that is not used is named once'
case $(grep -c 'built without the Vulkan headers' out),$(grep -c "^no kernel is kept on disk: the cache folder $kept can be written by other users" err) in
  0,1) pass ;;
  1,*) skip 'the tool was built without Vulkan' ;;
  *) fail 'it is not' ;;
esac
POOT_CACHE=off works 'devices without a cache' devices
check 'says nothing of it' test ! -s err
