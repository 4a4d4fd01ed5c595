#include "all_headers.hpp"

const void* version_seen_by_the_second();
const void* version_seen_by_the_second() { return &poot::version; }
