// What a user of the package compiles first: both tests of the package build this file.
#include <poot/poot.hpp>

#include <cstdio>

static_assert(poot::name(poot::bf16) == "bf16");

int main() { std::printf("poot %s\n", poot::version); }
