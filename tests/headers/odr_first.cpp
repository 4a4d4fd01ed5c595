// Every header in two translation units of one program: a definition that is not inline fails to link,
// and an inline variable has one address.
#include "all_headers.hpp"

const void* version_seen_by_the_second();

int main() { return &poot::version == version_seen_by_the_second() ? 0 : 1; }
