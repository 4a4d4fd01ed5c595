#pragma once
/// Vectors of f32 and 32-bit integers for each instruction set: 4 lanes baseline, 8 AVX2, 16 AVX-512.
///
/// The operations are the vector twins of core/ieee: every one is a single IEEE operation under every compiler flag,
/// and they carry the names that core/elementary.inc is written in. What each does is stated in simd.inc.

#include <poot/core/ieee.hpp>
#include <poot/core/rounding.hpp>
#include <poot/run/host/isa.hpp>

#define POOT_BODY <poot/run/host/simd.inc>
#include <poot/run/host/each_isa.inc>
